import { relative } from 'node:path';
import type { Config } from '../config/settings.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Warns at the start about settings that let strangers in. */
export function warnOfRisks(config: Config, logger: Logger): void {
  if (config.authOpenRegistration && config.databaseUrl !== 'memory:') {
    logger.warn(
      'SVC_AUTH_OPEN_REGISTRATION is on: anybody who can reach this gateway can make an account, and the account of a stranger is a developer, who reads the records of every org and may pause, resume and terminate all agents. Unset it and send invites instead, unless all who can reach this address may do that',
    );
  }
  if (config.oidcIssuer !== undefined && config.oidcRoles === undefined && config.oidcDefaultRole === undefined) {
    logger.warn(
      'neither SVC_OIDC_ROLES nor SVC_OIDC_DEFAULT_ROLE is set: nobody gets a role by single sign-on, so nobody can log in with it',
    );
  }
  if (config.authPassword === 'off' && config.oidcIssuer === undefined) {
    logger.warn(
      'SVC_AUTH_PASSWORD is off and there is no single sign-on (SVC_OIDC_ISSUER): no person can log in, and API keys alone work',
    );
  }
  if (config.auditAnchor !== undefined && !relative(config.dataDir, config.auditAnchor).startsWith('..')) {
    logger.warn(
      'SVC_AUDIT_ANCHOR is in the data folder: whoever can cut the audit log off can cut its anchor off, too. Keep it on another machine or an append-only medium',
    );
  }
  if (config.allowedHosts?.includes('*') === true) {
    logger.warn(
      'SVC_ALLOWED_HOSTS holds "*": requests are answered under any name, so that a page of a stranger can have its own name lead here (DNS rebinding) and act as a page of this gateway. Name the hosts instead',
    );
  }
}

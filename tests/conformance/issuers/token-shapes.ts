import { randomUUID } from 'node:crypto';
import type { TokenShape } from '../../harness/authorization-server.ts';

/** What a provider of access tokens adds, and these issuers do not. */
const notSaid = { client_id: undefined, scope: undefined };

const justNow = () => Math.floor(Date.now() / 1000) - 5;

/** A projected token of a service account, as Kubernetes documents it. */
export function kubernetesToken(namespace: string, account: string): TokenShape {
  return {
    header: { typ: undefined },
    payload: {
      ...notSaid,
      aud: ['reeve'],
      iss: 'https://kubernetes.default.svc.cluster.local',
      'kubernetes.io': {
        namespace,
        node: { name: 'node-1', uid: randomUUID() },
        pod: { name: `${account}-7d4b9c5f6-x2x7k`, uid: randomUUID() },
        serviceaccount: { name: account, uid: randomUUID() },
        warnafter: justNow() + 3000,
      },
      nbf: justNow(),
      sub: `system:serviceaccount:${namespace}:${account}`,
    },
  };
}

/** A token of a job in GitHub Actions, as GitHub documents it. */
export function githubToken(repository: string, ref: string): TokenShape {
  const [owner = '', name = ''] = repository.split('/');
  return {
    header: { typ: 'JWT', x5t: 'example-thumbprint' },
    payload: {
      ...notSaid,
      actor: 'octocat',
      actor_id: '12',
      base_ref: '',
      enterprise: 'acme-inc',
      environment: undefined,
      event_name: 'workflow_dispatch',
      head_ref: '',
      iss: 'https://token.actions.githubusercontent.com',
      job_workflow_ref: `${owner}/automation/.github/workflows/agent.yml@${ref}`,
      nbf: justNow(),
      ref,
      ref_type: 'branch',
      repository,
      repository_id: '74',
      repository_owner: owner,
      repository_owner_id: '65',
      repository_visibility: 'private',
      run_attempt: '2',
      run_id: '9',
      run_number: '10',
      runner_environment: 'github-hosted',
      sha: 'e1fa0b8d2c5e4f6a7b8c9d0e1f2a3b4c5d6e7f80',
      sub: `repo:${owner}/${name}:ref:${ref}`,
      workflow: 'agent',
      workflow_ref: `${repository}/.github/workflows/agent.yml@${ref}`,
      workflow_sha: 'e1fa0b8d2c5e4f6a7b8c9d0e1f2a3b4c5d6e7f80',
    },
  };
}

/** An ID token of a job in GitLab CI, as GitLab documents it: numbers and flags are texts, but for the runner. */
export function gitlabToken(projectPath: string, ref: string, isProtected: boolean): TokenShape {
  const namespace = projectPath.slice(0, projectPath.lastIndexOf('/'));
  return {
    header: { typ: 'JWT' },
    payload: {
      ...notSaid,
      ci_config_ref_uri: `gitlab.com/${projectPath}//.gitlab-ci.yml@refs/heads/${ref}`,
      ci_config_sha: '714a629c0b401fdce83e847fc9589983fc6f46bc',
      groups_direct: [namespace, `${namespace}/platform`],
      iss: 'https://gitlab.com',
      job_id: '302',
      namespace_id: '72',
      namespace_path: namespace,
      nbf: justNow(),
      pipeline_id: '574',
      pipeline_source: 'push',
      project_id: '20',
      project_path: projectPath,
      project_visibility: 'private',
      ref,
      ref_path: `refs/heads/${ref}`,
      ref_protected: String(isProtected),
      ref_type: 'branch',
      runner_environment: 'gitlab-hosted',
      runner_id: 1,
      sha: '714a629c0b401fdce83e847fc9589983fc6f46bc',
      sub: `project_path:${projectPath}:ref_type:branch:ref:${ref}`,
      user_email: 'ann@acme.example',
      user_id: '1',
      user_login: 'ann',
    },
  };
}

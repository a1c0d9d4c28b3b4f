import { describe, expect, test } from 'vitest';
import { passwordFault, passwordRules } from './new-password.ts';

describe('the rules of a new password', () => {
  test('characters are counted as people see them, whatever they are composed of', () => {
    expect(passwordRules('e\u0301'.repeat(11))[0]).toEqual({
      text: 'At least 12 characters (11 so far)',
      isMet: false,
    });
    expect(passwordRules('e\u0301'.repeat(12))[0]?.isMet).toBe(true);
    expect(passwordRules('🦊'.repeat(12))[0]?.isMet).toBe(true);
    expect(passwordRules('')[0]?.text).toBe('At least 12 characters');
  });

  test('256 characters are the most', () => {
    expect(passwordFault('ab'.repeat(128))).toBeUndefined();
    expect(passwordFault(`${'ab'.repeat(128)}c`)).toContain('at most 256');
  });

  test.each(['vera.viewer@example.com', 'VERA.VIEWERvera.viewer', 'Vera ViewerVera Viewer', 'veraviewerveraviewer'])(
    '%j is the email or the name',
    (password) => {
      const fault = passwordFault(password, { email: 'vera.viewer@example.com', name: 'Vera Viewer' });
      expect(fault).toContain('your email nor your name');
    },
  );

  test('a password that only holds the name is none of it', () => {
    expect(passwordFault('vera likes lamps', { email: 'vera@example.com', name: 'Vera' })).toBeUndefined();
    expect(passwordFault('seven quiet lamps', { email: '', name: '' })).toBeUndefined();
  });
});

import { Link } from '@tanstack/react-router';

/** A rule, `document/rule`, which leads to its document, or a cap, which leads to the budgets. What no document says, such as the default, leads nowhere. */
export function RuleLink({ rule }: { readonly rule: string }) {
  const at = rule.lastIndexOf('/');
  if (at < 1) return <code className="break-all">{rule}</code>;
  const look = 'text-accent underline underline-offset-2';
  if (rule.startsWith('budget/')) {
    return (
      <Link to="/budgets" className={look}>
        <code className="break-all">{rule}</code>
      </Link>
    );
  }
  return (
    <Link to="/policies" search={{ name: rule.slice(0, at) }} className={look}>
      <code className="break-all">{rule}</code>
    </Link>
  );
}

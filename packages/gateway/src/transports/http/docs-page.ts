import type { Route } from '@reeve/contract/http';
import { commonProblems, problemStatus, routes } from '@reeve/contract/http';
import { z } from 'zod';

/** The API reference as a page without scripts, made from the same table as the OpenAPI document. */
export function docsPage(version: string): string {
  const byTag = Map.groupBy(Object.entries<Route>(routes), ([, route]) => route.tag);
  const contents = [...byTag.keys()].map((tag) => `<li><a href="#${slug(tag)}">${escapeHtml(tag)}</a></li>`).join('');
  const sections = [...byTag].map(([tag, entries]) => section(tag, entries)).join('');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Reeve API</title>
<style>${style}</style>
</head>
<body>
<header><h1>Reeve API <small>${escapeHtml(version)}</small></h1>
<p>The same as a document for programs: <a href="/openapi.json">OpenAPI 3.1</a>. Authenticate with
<code>Authorization: Bearer &lt;API key or token&gt;</code>. Errors are <code>application/problem+json</code> with a
stable <code>code</code>.</p></header>
<nav aria-label="Contents"><ul>${contents}</ul></nav>
<main>${sections}</main>
</body>
</html>
`;
}

function section(tag: string, entries: readonly [string, Route][]): string {
  return `<section id="${slug(tag)}"><h2>${escapeHtml(tag)}</h2>${entries.map(([name, route]) => article(name, route)).join('')}</section>`;
}

function article(name: string, route: Route): string {
  const access =
    { public: 'public', api_key: 'an API key', any: 'any credential' }[route.access as string] ??
    `scope ${route.access}`;
  const problems = [...new Set([...commonProblems(route), ...route.problems])]
    .toSorted()
    .map((code) => `<li><b>${problemStatus[code]}</b> <code>${code}</code></li>`)
    .join('');
  return `<article id="${name}">
<h3><span class="method">${route.method}</span> <code>${escapeHtml(route.path)}</code></h3>
<p>${escapeHtml(route.summary)}</p>
<p class="facts">Access: ${access} · Tenancy: ${route.tenancy}</p>
${fields('Path', route.params)}${fields('Query', route.query)}${fields('Body', route.body)}
<p><b>${route.success.status}</b> ${escapeHtml(route.success.description)}</p>
${route.success.body === undefined ? '' : schema('Answer', route.success.body)}
<details><summary>Problems</summary><ul class="problems">${problems}</ul></details>
</article>`;
}

function fields(title: string, part: z.ZodObject | undefined): string {
  if (part === undefined) return '';
  const { properties = {}, required = [] } = z.toJSONSchema(part, { io: 'input', unrepresentable: 'any' });
  const rows = Object.entries(properties).map(([field, shape]) => {
    const mark = required.includes(field) ? ' <em>required</em>' : '';
    return `<tr><td><code>${escapeHtml(field)}</code>${mark}</td><td><code>${escapeHtml(shapeOf(shape))}</code></td></tr>`;
  });
  return `<table><caption>${title}</caption><tbody>${rows.join('')}</tbody></table>`;
}

function schema(title: string, body: z.ZodType): string {
  const { $schema: _, ...rest } = z.toJSONSchema(body, { io: 'output', unrepresentable: 'any' });
  return `<details><summary>${title}</summary><pre tabindex="0">${escapeHtml(JSON.stringify(rest, null, 2))}</pre></details>`;
}

function shapeOf(shape: unknown): string {
  return JSON.stringify(shape).replaceAll('"', '').replaceAll(/[{}]/g, '').replaceAll(',', ', ').replaceAll(':', ': ');
}

function slug(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z]+/g, '-');
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

export const style = `
:root{font:16px/1.5 system-ui,sans-serif;color:#1c2430;background:#fbfcfd}
body{margin:0 auto;max-width:60rem;padding:1.5rem}
a{color:#0b5cad}code,pre{font:0.9em ui-monospace,monospace}
h1 small{font-size:1rem;font-weight:400;color:#5a6675}
nav ul{display:flex;flex-wrap:wrap;gap:1rem;padding:0;list-style:none}
article{border:1px solid #d5dbe3;border-radius:8px;padding:0.5rem 1.25rem 1rem;margin:1rem 0;background:#fff}
h3{font-size:1.05rem;margin:0.75rem 0 0.25rem}h3 code{overflow-wrap:anywhere}
.method{font:700 0.8rem ui-monospace,monospace;background:#e3ecf7;color:#0a4583;border-radius:4px;padding:0.15rem 0.5rem}
.facts{color:#5a6675;font-size:0.9rem}
table{border-collapse:collapse;width:100%;margin:0.75rem 0}caption{text-align:left;font-weight:600}
td{border-top:1px solid #d5dbe3;padding:0.3rem 0.5rem;vertical-align:top;overflow-wrap:anywhere}
pre{overflow:auto;background:#f2f5f8;padding:0.75rem;border-radius:6px}
.problems{columns:2;padding-left:1rem}em{color:#a3470b;font-style:normal;font-size:0.8rem}
@media(prefers-color-scheme:dark){
:root{color:#dfe6ee;background:#11161d}a{color:#7cb8f2}article{background:#171e27;border-color:#2d3845}
td{border-color:#2d3845}pre{background:#0d1218}.method{background:#1d3552;color:#a9d0fb}.facts,h1 small{color:#95a3b3}em{color:#f0a46b}}
`;

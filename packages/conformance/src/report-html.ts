import type { Section } from './check.ts'
import { advice, byReason, ofSeverity, tally, unchecked } from './report-text.ts'
import { type Outcome, type Result, type Status, type Verdict, verdictOf } from './run.ts'

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
/** The server under test chose much of what is shown: none of it becomes markup. */
const escape = (text: string): string => text.replace(/[&<>"']/g, (mark) => ESCAPES[mark]!)

const STYLE = `
:root { color-scheme: light dark; --line: #d8dce2; --soft: #5b6472; --back: #fff; --panel: #f5f7f9; --ink: #16191d;
  --passed: #1a7f4b; --failed: #c0272d; --blocked: #a15c00; --skipped: #5b6472 }
@media (prefers-color-scheme: dark) { :root { --line: #333a44; --soft: #9aa5b4; --back: #12151a; --panel: #1a1f26; --ink: #e6e9ee;
  --passed: #4cc38a; --failed: #ff7b7f; --blocked: #f0a83c; --skipped: #9aa5b4 } }
* { box-sizing: border-box }
body { font: 15px/1.5 system-ui, sans-serif; background: var(--back); color: var(--ink); margin: 0 auto; max-width: 72rem; padding: 2rem 1rem }
h1 { font-size: 1.5rem; margin: 0 } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem }
p { margin: .3rem 0 } .soft { color: var(--soft) }
a { color: inherit } .wide { overflow-x: auto; margin-top: 1rem }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .3rem .6rem; white-space: nowrap; border-bottom: 1px solid var(--line) }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
details { border-bottom: 1px solid var(--line); padding: .4rem .2rem } summary { cursor: pointer; display: flex; gap: .8rem; align-items: baseline; flex-wrap: wrap }
details.leaf > summary { cursor: default; list-style: none }
code, pre { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere }
pre { background: var(--panel); padding: .7rem; border-radius: 6px; white-space: pre-wrap; margin: .5rem 0 }
.status { font-weight: 600; min-width: 4.5rem } .source { color: var(--soft); margin-left: auto; font-size: .85rem }
.passed { color: var(--passed) } .failed { color: var(--failed) } .blocked { color: var(--blocked) } .skipped { color: var(--skipped) }
dl { display: grid; grid-template-columns: 6rem 1fr; gap: .2rem .8rem; margin: .5rem 0 } dt { color: var(--soft) } dd { margin: 0 }
@media (max-width: 40rem) { .source { margin-left: 0 } dl { grid-template-columns: 1fr } }
`

function outcomeHtml({ check, status, failure }: Outcome): string {
  const head = `<summary><span class="status ${status}">${status}</span><code>${escape(check.id)}</code><span>${escape(check.title)}</span><span class="source">${escape(check.source)}</span></summary>`
  if (failure) {
    const curl = failure.curl === undefined ? '' : `<pre>${escape(failure.curl)}</pre>`
    return `<details open>${head}<dl><dt>expected</dt><dd><code>${escape(failure.expected)}</code></dd><dt>received</dt><dd><code>${escape(failure.received)}</code></dd></dl>${curl}</details>`
  }
  return `<details class="leaf">${head}</details>`
}

/** Outcomes that differ in nothing but their check stand behind one line. */
const foldHtml = (status: Status, words: string, outcomes: readonly Outcome[]): string =>
  `<details><summary><span class="status ${status}">${outcomes.length} ${status}</span><span class="soft">${escape(words)}</span></summary>${outcomes.map(outcomeHtml).join('\n')}</details>`

function sectionHtml({ id, title }: Section, outcomes: readonly Outcome[]): string {
  const of = (status: Status) => outcomes.filter((outcome) => outcome.status === status)
  const parts = of('failed').map(outcomeHtml)
  for (const status of ['blocked', 'skipped'] as const)
    for (const [reason, those] of byReason(outcomes, status)) parts.push(foldHtml(status, reason, those))
  if (of('passed').length > 0) parts.push(foldHtml('passed', '', of('passed')))
  return `<h2 id="s${escape(id)}">${escape(id)} ${escape(title)}</h2>${parts.join('\n')}`
}

function summaryHtml({ sections, outcomes }: Result): string {
  const cells = (own: readonly Outcome[]) => {
    const counts = tally(own)
    return (['passed', 'failed', 'blocked', 'skipped'] as const)
      .map((status) => `<td class="n${counts[status] > 0 ? ` ${status}` : ''}">${counts[status] || '·'}</td>`)
      .join('')
  }
  const rows = sections.map(({ id, title }) => {
    const own = outcomes.filter(({ section }) => section === id)
    const name = `<td><a href="#s${escape(id)}">${escape(id)} ${escape(title)}</a></td>`
    return `<tr>${name}${cells(ofSeverity(own, 'must'))}${cells(ofSeverity(own, 'ours'))}</tr>`
  })
  const heads =
    '<th class="n">passed</th><th class="n">failed</th><th class="n">blocked</th><th class="n">skipped</th>'
  return `<div class="wide" tabindex="0" role="region" aria-label="By section"><table><thead><tr><th></th><th class="n" colspan="4">Specification</th><th class="n" colspan="4">Decisions (ours)</th></tr><tr><th>Section</th>${heads}${heads}</tr></thead><tbody>${rows.join('')}</tbody><tfoot><tr><th>All</th>${cells(ofSeverity(outcomes, 'must'))}${cells(ofSeverity(outcomes, 'ours'))}</tr></tfoot></table></div>`
}

const VERDICTS: Readonly<Record<Verdict, readonly [status: Status, words: string]>> = {
  conforms: ['passed', 'Conforms'],
  'does not conform': ['failed', 'Does not conform'],
  'nothing checked': ['skipped', 'Not checked'],
}

/** One page that needs nothing else: no script, no style, no picture from anywhere. */
export function htmlReport(result: Result): string {
  const { baseUrl, profile, startedAt, tookMs, requests, sections, outcomes } = result
  const { passed, failed, blocked, skipped } = tally(outcomes)
  const verdict = verdictOf(result)
  const hint = verdict === 'nothing checked' ? unchecked(result) : advice(result)
  const parts = sections.map((section) =>
    sectionHtml(
      section,
      outcomes.filter((outcome) => outcome.section === section.id),
    ),
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Conformance of ${escape(baseUrl)}</title><style>${STYLE}</style></head><body>
<h1><span class="${VERDICTS[verdict][0]}">${VERDICTS[verdict][1]}</span></h1>
<p><code>${escape(baseUrl)}</code></p>
<p class="soft">${passed} passed, ${failed} failed, ${blocked} blocked, ${skipped} skipped; profile ${escape(profile)}; ${requests} requests in ${(tookMs / 1_000).toFixed(1)} s; ${escape(startedAt.toISOString())}</p>
<p class="soft">The specification is what every server must keep. Decisions are this project’s readings where it is silent: another server may differ.</p>
${hint === undefined ? '' : `<p><strong>${escape(hint)}</strong></p>`}
${summaryHtml(result)}
${parts.join('\n')}
</body></html>
`
}

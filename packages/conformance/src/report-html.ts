import type { Section } from './check.ts'
import { type Cause, explain, readingText } from './explain.ts'
import { advice, byReason, countsOf, ofOrigin, tally, unchecked } from './report-text.ts'
import { type Outcome, type Result, type Status, type Verdict, verdictOf } from './run.ts'
import { sidesOf } from './sides.ts'

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
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: .8rem } ol { padding-left: 1.6rem }
@media (max-width: 40rem) { .sides { grid-template-columns: 1fr } .source { margin-left: 0 } dl { grid-template-columns: 1fr } }
`

function outcomeHtml({ check, status, failure }: Outcome): string {
  const head = `<summary><span class="status ${status}">${status}</span><code>${escape(check.id)}</code><span>${escape(check.title)}</span><span class="source">${escape(check.source)}</span></summary>`
  if (failure) {
    const curl = failure.curl === undefined ? '' : `<pre>${escape(failure.curl)}</pre>`
    return `<details open>${head}<dl><dt>expected</dt><dd><code>${escape(failure.expected)}</code></dd><dt>received</dt><dd><code>${escape(failure.received)}</code></dd></dl>${curl}</details>`
  }
  return `<details class="leaf">${head}</details>`
}

/** A cause with both sides, and the checks that it stands for. */
function causeHtml(cause: Cause): string {
  const { title, source, example, failed, blocked } = cause
  const sides = example && sidesOf(example)
  const both = sides
    ? `<div class="sides"><div><p class="soft">Your server sent</p><pre>${escape(sides.sent)}</pre></div><div><p class="soft">The specification shows</p><pre>${escape(sides.shown)}</pre></div></div>`
    : ''
  const facts = example
    ? `<dl><dt>expected</dt><dd><code>${escape(example.expected)}</code></dd><dt>received</dt><dd><code>${escape(example.received)}</code></dd></dl>`
    : ''
  const curl = example?.curl === undefined ? '' : `<pre>${escape(example.curl)}</pre>`
  const ids = [...failed, ...blocked].map(({ check }) => `<code>${escape(check.id)}</code>`).join(' ')
  return `<li><details><summary><strong>${escape(title)}</strong><span class="source">${escape(source)}; ${countsOf(cause)}</span></summary>${facts}${both}${curl}<p class="soft">${ids}</p></details></li>`
}

const causesHtml = (causes: readonly Cause[]): string =>
  causes.length === 0
    ? ''
    : `<h2>Causes, the first thing to fix on top</h2><ol>${causes.map(causeHtml).join('\n')}</ol>`

const readingsHtml = ({ readings }: Result): string =>
  readings.length === 0
    ? ''
    : `<h2>Readings</h2><ul>${readings.map((one) => `<li>${escape(readingText(one))}</li>`).join('')}</ul>`

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
    return `<tr>${name}${cells(ofOrigin(own, 'spec'))}${cells(ofOrigin(own, 'decision'))}</tr>`
  })
  const heads =
    '<th class="n">passed</th><th class="n">failed</th><th class="n">blocked</th><th class="n">skipped</th>'
  return `<div class="wide" tabindex="0" role="region" aria-label="By section"><table><thead><tr><th></th><th class="n" colspan="4">Specification</th><th class="n" colspan="4">Decisions</th></tr><tr><th>Section</th>${heads}${heads}</tr></thead><tbody>${rows.join('')}</tbody><tfoot><tr><th>All</th>${cells(ofOrigin(outcomes, 'spec'))}${cells(ofOrigin(outcomes, 'decision'))}</tr></tfoot></table></div>`
}

const VERDICTS: Readonly<Record<Verdict, readonly [status: Status, words: string]>> = {
  conforms: ['passed', 'Conforms'],
  'does not conform': ['failed', 'Does not conform'],
  'nothing checked': ['skipped', 'Not checked'],
}

/** One page that needs nothing else: no script, no style, no picture from anywhere. */
export function htmlReport(found: Result): string {
  const { causes, outcomes } = explain(found)
  const result = { ...found, outcomes }
  const { baseUrl, profile, startedAt, tookMs, requests, sections } = result
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
${causesHtml(causes)}
${readingsHtml(result)}
${summaryHtml(result)}
${parts.join('\n')}
</body></html>
`
}

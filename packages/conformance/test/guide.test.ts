import { readFileSync } from 'node:fs'
import { SECTIONS } from '@svc/conformance/registry'
import { textReport } from '@svc/conformance/report-text'
import { expect, test } from 'vitest'

const guide = readFileSync(new URL('../../../docs/guides/conformance.md', import.meta.url), 'utf8')
const [conforming, failing] = [...guide.matchAll(/^```text\n(.*?)^```\n/gms)].map(([, text]) => text!)
const checks = SECTIONS.flatMap(({ checks: own }) => own)

test('the first report in the guide has the rows and numbers of a server that passes every check', () => {
  const report = textReport({
    baseUrl: 'http://127.0.0.1',
    profile: 'all',
    strict: false,
    anonymous: false,
    startedAt: new Date(0),
    tookMs: 0,
    requests: 0,
    sections: SECTIONS,
    outcomes: SECTIONS.flatMap(({ id, checks: own }) =>
      own.map((check) => ({ section: id, check, status: 'passed' as const, tookMs: 0 })),
    ),
    readings: [],
  })
  // A line of dots stands for rows, and dots at the end for how many requests it took and how long.
  const shown = conforming!.split('\n').map((line) => line.replace(/…$/, ''))
  expect(shown.length).toBeGreaterThan(5)
  for (const line of shown) expect(report).toContain(line)
})

test('the report in the guide of a server that fails counts every check of the specification once', () => {
  const [, ...counts] = /: (\d+) passed, (\d+) failed, (\d+) blocked, (\d+) skipped/.exec(failing!)!
  expect(counts.map(Number).reduce((sum, count) => sum + count)).toBe(
    checks.filter(({ origin }) => origin === 'spec').length,
  )
})

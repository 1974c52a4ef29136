import junit, { type Builder } from 'junit-report-builder'
import { explain } from './explain.ts'
import type { Result } from './run.ts'
import { columns, sidesOf } from './sides.ts'

/** What XML 1.0 cannot hold, however it is escaped. */
const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

// Its types say `export default`, and Node sees a CommonJS module that is the builder itself.
const newBuilder = (): Builder => (junit as unknown as Builder).newBuilder()

/** JUnit's XML, which CI servers show: a suite for each section, a case for each check. What only follows is an error. */
export function junitReport(result: Result): string {
  const { sections, startedAt, baseUrl, strict } = result
  const { outcomes } = explain(result)
  const clean = (text: string) => text.replace(NOT_XML, '\ufffd')
  const builder = newBuilder().name(clean(`Conformance of ${baseUrl}`))
  for (const { id, title } of sections) {
    const own = outcomes.filter(({ section }) => section === id)
    const suite = builder.testSuite().name(`${id} ${title}`)
    suite.timestamp(startedAt).time(own.reduce((sum, { tookMs }) => sum + tookMs, 0) / 1_000)
    for (const { check, status, tookMs, reason, failure } of own) {
      const one = suite.testCase().className(`${id}.${check.origin}`).name(`${check.id}: ${check.title}`)
      one.time(tookMs / 1_000)
      if (status === 'skipped' && strict) one.failure(clean(`skipped: ${reason}`), check.source)
      else if (status === 'skipped') one.skipped().standardOutput(clean(reason!))
      if (status === 'blocked') one.error(clean(reason!), 'blocked')
      if (status === 'failed') {
        one.failure(clean(`expected ${failure!.expected}, received ${failure!.received}`), check.source)
        const sides = sidesOf(failure!)
        const shown = [sides && columns(sides), failure!.curl].filter((part) => part !== undefined)
        // Viewers put this text on a page as it is; in JSON the escape means the same.
        if (shown.length > 0) one.standardOutput(clean(shown.join('\n\n')).replaceAll('<', '\\u003c'))
      }
    }
  }
  return builder.build()
}

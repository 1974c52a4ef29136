import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT, sourcesOf } from '../harness/sources.ts'

const WRITER = 'packages/kernel/src/csv.ts'
/** Names of SQL are quoted as fields of a CSV are. */
const QUOTES_NAMES_OF_SQL = 'packages/app/src/backup/catalogue.ts'

/** What code that writes CSV by itself has: a library, doubled quotation marks, joined fields, the media type. */
const SIGNS = [
  /['"](?:csv-stringify|csv-writer|fast-csv|@fast-csv|papaparse|json2csv|csv-generate)/,
  /replace(?:All)?\(.*['"`]""['"`]/,
  /replace\(.*'"',\s*'""'\)/,
  /\.join\((['"`]),\1\).*\\n/,
  /\|\|\s*'(?:""|,)'\s*\|\|/,
  /content-type.*text\/csv/i,
  /(?:produces|alsoProduces):\s*['"`]text\/csv/i,
]
const writesCsv = (text: string): boolean =>
  text.split('\n').some((line) => SIGNS.some((sign) => sign.test(line)))

/** The text of a program that reads what was exported, beside no package of ours. */
const VERIFIER = 'packages/core/src/statements/verify-proof.ts'

test('one file writes CSV: API, console, command line and files for banks use its rule', () => {
  const packages = readdirSync(join(ROOT, 'packages'))
  const writers = sourcesOf(packages).flatMap(({ file, text }) => (writesCsv(text) ? [file] : []))
  expect(writers.sort()).toEqual([QUOTES_NAMES_OF_SQL, VERIFIER, WRITER].toSorted())
})

test.each([
  `import { stringify } from 'csv-stringify/sync'`,
  `const quoted = (text) => (/[",]/.test(text) ? \`"\${text.replaceAll('"', '""')}"\` : text)`,
  `coalesce('"' || replace(\${sql}, '"', '""') || '"', '')`,
  `p.payment_id || ',' || coalesce(p.qr_code_id, '')`,
  `rows.map((row) => \`\${row.join(',')}\\r\\n\`)`,
  `headers: { 'content-type': 'text/csv; charset=utf-8' }`,
])('a second writer is found by: %s', (line) => {
  expect(writesCsv(line)).toBe(true)
})

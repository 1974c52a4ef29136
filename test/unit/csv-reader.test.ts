import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT, sourcesOf } from '../harness/sources.ts'

const READER = 'packages/core/src/bank-files/file-table.ts'
/** Orders of cards: our own form, whose columns are fields of the API. */
const ORDERS = 'packages/cli/src/bulk-csv.ts'

test('one file reads the files of banks: settlements, responses and opening balances use it', () => {
  const packages = readdirSync(join(ROOT, 'packages'))
  const readers = sourcesOf(packages).flatMap(({ file, text }) =>
    /from ['"](?:csv-parse|papaparse|csv-parser|fast-csv|@fast-csv)/.test(text) ? [file] : [],
  )
  expect(readers.sort()).toEqual([ORDERS, READER])
})

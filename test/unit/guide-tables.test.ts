import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FAILURES } from '@svc/contract/errors'
import { PAYMENT_STATUSES, REFUSAL_REASONS } from '@svc/core/payments/payment'
import { JWE_ERROR_REASONS } from '@svc/jwe/jwe-error'
import { expect, test } from 'vitest'
import { ROOT } from '../harness/sources.ts'

/** The first cells of the rows of a guide's table, by the head of its first column. */
async function firstCells(guide: string, head: string): Promise<string[]> {
  const text = await readFile(join(ROOT, 'docs/guides', guide), 'utf8')
  const [, rows = ''] = text.split(`| ${head} |`)
  const [table = ''] = rows.split('\n\n')
  return table
    .split('\n')
    .slice(2)
    .map((row) => row.split('|')[1]?.trim() ?? '')
}

const codesIn = (cells: readonly string[]): string[] =>
  cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, code = '']) => code))

test('the guide to encryption quotes every message by which an encrypted request is rejected', async () => {
  const quoted = await firstCells('encrypt-a-request.md', 'It says')
  const { too_large: _tooLarge, ...reasons } = JWE_ERROR_REASONS
  const messages = Object.values(reasons)
  expect(messages.filter((message) => !quoted.some((part) => message.includes(part)))).toEqual([])
  expect(quoted.filter((part) => !messages.some((message) => message.includes(part)))).toEqual([])
})

test('the guides name every status of a merchant’s payment, and every reason why its code did not accept it', async () => {
  const reasons = codesIn(await firstCells('errors-and-retries.md', '`reason`'))
  expect([...reasons, 'unknown_code'].toSorted()).toEqual([...REFUSAL_REASONS].toSorted())
  const statuses = codesIn(await firstCells('qr-codes.md', '`status`'))
  expect([...statuses, 'ASSIGNED'].toSorted()).toEqual([...PAYMENT_STATUSES].toSorted())
})

test('the guide to retries states for every status of a failure whether to send the request again', async () => {
  const statuses = (await firstCells('errors-and-retries.md', 'Status')).join(' ')
  const missing = Object.values(FAILURES).filter(({ status }) => !statuses.includes(`${status}`))
  expect(missing).toEqual([])
})

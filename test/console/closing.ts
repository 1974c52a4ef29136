import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { monthName } from '../../apps/console/src/words.ts'
import { accessibilityViolations } from '../harness/browser.ts'
import { type MonthToClose, makeMonthToClose } from '../harness/closed-month.ts'
import { newOperator, PASSWORD } from '../harness/console.ts'
import { type Bed, goTo, settled } from './bed.ts'
import { inMenu } from './person.ts'

const dialog = (page: Page) => page.getByRole('dialog')
const main = (page: Page) => page.getByRole('main')
const button = (of: Page | Locator, name: string) => of.getByRole('button', { name, exact: true })
const confirmed = async (page: Page, label: string, confirm: string) => {
  await button(page, label).click()
  await page.getByRole('dialog', { name: label, exact: true }).waitFor()
  expect(await accessibilityViolations(page)).toEqual([])
  await button(dialog(page), confirm).click()
  await dialog(page).waitFor({ state: 'detached' })
}
const drop = (page: Page, name: string, buffer: Buffer) =>
  page.getByLabel('Choose files of the bank').setInputFiles({ name, mimeType: 'text/csv', buffer })
const goPlace = async (page: Page, name: string, heading = name) => {
  if ((await inMenu(page, name).count()) === 0) await inMenu(page, 'Money').click()
  await inMenu(page, name).click()
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
  await settled(page)
}

async function importsSettlement(page: Page, of: MonthToClose): Promise<void> {
  await goPlace(page, 'Bank files')
  await drop(page, 'no-settlement.csv', Buffer.from('%PDF-1.7'))
  await page.getByRole('alert').getByText('a PDF document').waitFor()
  await button(main(page), 'Discard').click()
  await drop(page, 'settlement.csv', of.settlementFile)
  await page.getByRole('table', { name: 'Does not fit' }).getByText(of.strayUtr).waitFor()
  await page.getByText(/^Posting enters \d journals dated/).waitFor()
  expect(await accessibilityViolations(page)).toEqual([])
  await confirmed(page, 'Post ₹1,567.00', 'Post it')
  await page.getByText('Posted: ₹1,567.00').waitFor()
  await page.getByRole('link', { name: `Transfer ${of.transfers[0]}` }).click()
  await page.getByRole('heading', { level: 1, name: `Transfer ${of.transfers[0]}` }).waitFor()
  await page.getByText('1 line without a match').waitFor()
  await page.getByRole('row', { name: 'Matched' }).getByRole('link').first().click()
  await page.getByRole('heading', { level: 1, name: /^Payment / }).waitFor()
}

async function importsStatement(page: Page, of: MonthToClose): Promise<void> {
  await goPlace(page, 'Bank files')
  const expected = page.getByRole('table', { name: 'Expected of the bank' })
  await expected.getByText('Statement of Escrow at HDFC').waitFor()
  await drop(page, 'statement.csv', of.statementFile)
  await button(page, 'Record 2 lines').waitFor()
  expect(await accessibilityViolations(page)).toEqual([])
  await confirmed(page, 'Record 2 lines', 'Record them')
  await page.getByText('Recorded: 2 lines').waitFor()
  const kept = page.getByRole('table', { name: 'Files that were recorded' })
  await kept.getByRole('row', { name: 'settlement.csv' }).waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    kept.getByRole('link', { name: 'Download statement.csv' }).click(),
  ])
  expect(await readFile(await download.path())).toEqual(of.statementFile)
  await page.getByRole('link', { name: 'See the lines that do not fit' }).click()
  const line = page.getByRole('row', { name: 'CHEQUE000077' })
  await line.getByText('+₹500.00').waitFor()
  await button(line, 'Match the line').click()
  await page.getByRole('dialog', { name: 'Match the line' }).waitFor()
  await dialog(page).getByLabel(`Transfer ${of.transfers[1]} of`).check()
  await dialog(page).getByLabel('Reason').fill('by letter of the bank')
  expect(await accessibilityViolations(page)).toEqual([])
  await button(dialog(page), 'Match').click()
  await page.getByText('Nothing fits these filters.').waitFor()
}

async function issuesInvoices(page: Page, of: MonthToClose): Promise<void> {
  const month = monthName(of.through)
  await goPlace(page, 'Close')
  await main(page).getByRole('link', { name: month }).click()
  const fees = page.getByRole('row', { name: 'Fees and GST of every payment are entered' })
  await button(fees, 'Enter the fees').click()
  await page.getByRole('row', { name: 'Fees are in invoices' }).getByRole('link').click()
  await confirmed(page, 'Issue the invoices', `Issue those of ${month}`)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: /^S\/.* as PDF$/ }).click(),
  ])
  expect(download.suggestedFilename()).toMatch(/^S-.*\.pdf$/)
  expect(await accessibilityViolations(page)).toEqual([])
}

async function closes(page: Page, of: MonthToClose): Promise<void> {
  const month = monthName(of.through)
  await page.getByRole('tab', { name: 'Proof of funds' }).click()
  await page.getByText('The books equal the banks', { exact: true }).waitFor()
  await page.getByRole('table', { name: 'Escrow of merchants' }).getByText('₹1,567.00').first().waitFor()
  expect(await accessibilityViolations(page)).toEqual([])
  await page.getByRole('tab', { name: 'Checklist' }).click()
  await page.getByText('7 of 7 done').waitFor()
  expect(await accessibilityViolations(page)).toEqual([])
  await confirmed(page, `Close ${month}`, `Close ${month}`)
  await page.getByRole('heading', { level: 2, name: 'Closed' }).waitFor()
  expect(await accessibilityViolations(page)).toEqual([])
  await goPlace(page, 'Close')
  await button(page, 'Verify what was signed').click()
  await page.getByText('The books are as they were signed').waitFor()
  expect(await accessibilityViolations(page)).toEqual([])
}

export function closing(bed: Bed): void {
  test('finance imports the files of the bank, matches a line, proves the funds, issues invoices, closes the month and verifies it', {
    timeout: 120_000,
  }, async () => {
    const of = await makeMonthToClose(bed.service)
    const { name } = await newOperator(bed.service, 'finance')
    const page = await bed.visit({ as: { name, password: PASSWORD }, expected: [/400/] })
    await importsSettlement(page, of)
    await importsStatement(page, of)
    await issuesInvoices(page, of)
    await closes(page, of)
  })

  test('a viewer sees the files, lines and months, and can change none', async () => {
    const { name } = await newOperator(bed.service, 'viewer')
    const page = await bed.visit({ as: { name, password: PASSWORD }, at: '/settlements' })
    await page.getByRole('table', { name: 'Transfers' }).waitFor()
    for (const path of ['/settlements', '/statements', '/bank-files', '/close']) {
      await goTo(page, path)
      const changes = /Import|Match|Resolve|Owner|Take the match back|Close |Verify|Issue/
      expect.soft(await main(page).getByRole('button', { name: changes }).count(), path).toBe(0)
      expect
        .soft(
          await main(page)
            .getByRole('link', { name: /Import/ })
            .count(),
          path,
        )
        .toBe(0)
      expect.soft(await accessibilityViolations(page), path).toEqual([])
    }
  })
}

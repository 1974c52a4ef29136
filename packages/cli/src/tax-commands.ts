import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { fail } from '@svc/contract/errors'
import { GSTR1_SECTIONS, type Gstr1Section, gstr1 } from '@svc/core/payments/fees/gstr1'
import { issueCreditNote } from '@svc/core/payments/fees/issue-credit-note'
import { issueDebitNote } from '@svc/core/payments/fees/issue-debit-note'
import { findTaxDocument, listTaxDocuments } from '@svc/core/payments/fees/issue-invoices'
import { issueMonth } from '@svc/core/payments/fees/issue-month'
import { type TaxDocument, taxDocumentToWire } from '@svc/core/payments/fees/tax-document'
import {
  findTaxRegistration,
  type GivenRegistration,
  registrationProblems,
  setTaxRegistration,
} from '@svc/core/payments/fees/tax-registration'
import { formatRupees, type Paise } from '@svc/kernel/money'
import { type ListedTaxDocument, readMonth, taxDocument } from '@svc/server/payments/tax-documents'
import { taxDocumentPdf } from '@svc/server/statements/tax-document-pdf'
import { type Command, Option } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { addNounList } from './noun-commands.ts'
import { type Printed, printJson, printRecord, printTable } from './print.ts'
import { readReason } from './read-reason.ts'
import { readPaise } from './read-rupees.ts'
import { requireMerchant } from './require-merchant.ts'
import { addTdsCommands } from './tds-commands.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

interface OfMonth extends Printed {
  readonly month: string
  readonly merchant?: string
}

export function addTaxCommands(program: Command): void {
  const tax = program
    .command('tax')
    .description('tax registrations of merchants, monthly invoices of fees, the return of outward supplies')
  tax
    .command('registration <merchantId>')
    .description('set who a merchant is to the tax office; without options, show it')
    .option('--legal-name <name>', 'as registered')
    .option('--address <text>', 'of its principal place of business')
    .option('--gstin <gstin>', 'decides CGST and SGST, or IGST')
    .option('--state <code>', 'GST state code of a merchant without a GSTIN')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin tax registration mer_… --legal-name "Corner Shop LLP" --address "2 MG Road, Bengaluru" --gstin 29AAGCB7383J1Z4',
    )
    .action(registration)
  withMonth(tax.command('issue'))
    .description('issue the invoices of a month that is over: one for each merchant')
    .addHelpText(
      'after',
      `
The service does this by itself in the first days of the next month. A repeat issues only what was found since.

Example:
  svc admin tax issue --month 2026-10`,
    )
    .action(issue)
  addNounList<ListedTaxDocument>(tax, taxDocument, {
    by: 'period',
    description: 'list the tax documents of a month, or of all, newest first',
    example: 'svc admin tax list 2026-10 --csv > documents.csv',
    limit: 1_000_000,
  })
  tax
    .command('pdf <number> <file>')
    .description('write a tax document as PDF')
    .addHelpText('after', '\nExample:\n  svc admin tax pdf S/26-27/0000001 invoice.pdf')
    .action(pdf)
  addCreditNote(tax)
  addDebitNote(tax)
  addTdsCommands(tax)
  withMonth(tax.command('gstr1'))
    .description('print a section of the return of outward supplies, as the offline tool reads it')
    .addOption(new Option('--section <section>', 'which').choices(GSTR1_SECTIONS).makeOptionMandatory())
    .addHelpText('after', '\nExample:\n  svc admin tax gstr1 --month 2026-10 --section b2b --csv > b2b.csv')
    .action(printReturn)
}

const withMonth = (command: Command): Command =>
  command
    .requiredOption('--month <month>', 'YYYY-MM', readMonth)
    .option('--merchant <merchantId>', 'only this merchant')
    .option('--csv', 'print CSV')
    .option('--json', 'print JSON')

async function registration(
  merchantId: string,
  { json = false, ...given }: Json & Partial<GivenRegistration>,
): Promise<void> {
  const isSet = Object.values(given).some((value) => value !== undefined)
  const { legalName = '', address = '', gstin, state } = given
  const wanted = { legalName, address, gstin, state }
  const problems = isSet ? registrationProblems(wanted) : []
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  const found = await withInstallation(async (context) => {
    const by = isSet ? { actor: await moneyActor(context) } : undefined
    return context.database.operate(
      async (tx) => {
        await requireMerchant(tx, merchantId)
        if (isSet) await setTaxRegistration(tx, merchantId, wanted)
        return findTaxRegistration(tx, merchantId)
      },
      'read committed',
      by,
    )
  })
  if (!found)
    throw new UsageError('The merchant has no registration. Give --legal-name, --address and --gstin.')
  printRecord({ ...found }, json)
}

/** As a table for people; with `--json` as documents state it. */
function printDocuments(documents: readonly TaxDocument[], { json = false, ...printed }: Printed): void {
  const shown = documents.map(taxDocumentToWire)
  if (json) return printJson(shown)
  printTable(
    shown.map((document) => ({
      number: document.number,
      kind: document.kind,
      issueDate: document.issueDate,
      period: document.period,
      recipient: document.recipient.legalName,
      gstin: document.recipient.gstin,
      placeOfSupply: document.placeOfSupply,
      count: document.count,
      taxableValue: document.taxableValue,
      rate: document.rate,
      cgst: document.cgst,
      sgst: document.sgst,
      igst: document.igst,
      total: document.total,
      originalNumber: document.originalNumber,
      creditNoteNumber: document.creditNoteNumber,
      documentId: document.documentId,
    })),
    printed,
  )
}

async function issue({ month, merchant, ...printed }: OfMonth): Promise<void> {
  const issued = await withInstallation(async (context) => {
    const by = { actor: await moneyActor(context) }
    const { keyring, random } = context.keyMaker
    return issueMonth({ ...context, keyring, random }, { month, merchantId: merchant, by })
  })
  printDocuments(issued, printed)
}

async function printReturn({
  section,
  month,
  merchant,
  ...printed
}: OfMonth & { section: Gstr1Section }): Promise<void> {
  const dated = { datedIn: month, merchantId: merchant }
  const documents = await withInstallation(({ database }) =>
    database.operate((tx) => listTaxDocuments(tx, dated)),
  )
  printTable(gstr1(section, documents), printed)
}

async function pdf(number: string, file: string): Promise<void> {
  const document = await withInstallation(({ database }) =>
    database.operate((tx) => findTaxDocument(tx, number)),
  )
  if (!document)
    return fail('tax_document_not_found', {
      description: `There is no tax document ${number}. See them with: svc admin tax list`,
    })
  await pipeline(taxDocumentPdf({ document, now: new Date() }), createWriteStream(file))
}

interface NoteOptions extends Json {
  readonly amount: Paise
  readonly reason: string
}

function addCreditNote(tax: Command): void {
  tax
    .command('credit-note <number>')
    .description('give fees of an invoice back with their GST; the next payout of the merchant pays them')
    .requiredOption('--amount <fee>', 'rupees of fees, without GST', readPaise)
    .requiredOption('--reason <text>', 'why; it is in the journal. The same again issues nothing', readReason)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin tax credit-note S/26-27/0000001 --amount 25.00 --reason "charged at the old rate"',
    )
    .action(creditNote)
}

async function creditNote(number: string, { amount, json = false, reason }: NoteOptions): Promise<void> {
  const issued = await withInstallation(async (context) => {
    const actor = await moneyActor(context)
    const details = { fee: formatRupees(amount), reason }
    const audit = { actor, action: 'tax_document.credit_note', target: number, details }
    return context.commands.open(issueCreditNote).run({ number, feePaise: amount, reason }, audit)
  })
  printOutcome(issued, json, ({ document }) => printDocuments([document], { json }))
}

function addDebitNote(tax: Command): void {
  tax
    .command('debit-note <number>')
    .description(
      'take a credit note back that was issued by mistake, whole: its fee and GST are owed to us again',
    )
    .requiredOption('--reason <text>', 'why; it is in the journal', readReason)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
A credit note is taken back once: a repeat prints the same debit note. The next payout of the merchant deducts it.

Example:
  svc admin tax debit-note C/26-27/0000001 --reason "of another merchant"`,
    )
    .action(debitNote)
}

async function debitNote(
  number: string,
  { json = false, reason }: Omit<NoteOptions, 'amount'>,
): Promise<void> {
  const issued = await withInstallation(async (context) => {
    const actor = await moneyActor(context)
    const audit = { actor, action: 'tax_document.debit_note', target: number, details: { reason } }
    return context.commands.open(issueDebitNote).run({ number, reason }, audit)
  })
  printOutcome(issued, json, ({ document }) => printDocuments([document], { json }))
}

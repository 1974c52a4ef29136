import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { issueTaxDocuments } from '@svc/console-api/faces/tax-document-operations'
import { issueCreditNoteInConsole, issueDebitNoteInConsole } from '@svc/console-api/faces/tax-note-operations'
import {
  setTaxRegistrationInConsole,
  showTaxRegistration,
} from '@svc/console-api/faces/tax-registration-operations'
import { fail } from '@svc/contract/errors'
import { GSTR1_SECTIONS, type Gstr1Section, gstr1 } from '@svc/core/payments/fees/gstr1'
import { findTaxDocument, listTaxDocuments } from '@svc/core/payments/fees/issue-invoices'
import { type ListedTaxDocument, readMonth, taxDocument } from '@svc/server/payments/tax-documents'
import { taxDocumentPdf } from '@svc/server/statements/tax-document-pdf'
import { type Command, Option } from 'commander'
import { withInstallation } from './context.ts'
import { addNounList } from './noun-commands.ts'
import { addOperation } from './operation-command.ts'
import { type Printed, printTable } from './print.ts'
import { addTdsCommands } from './tds-commands.ts'

interface Issued {
  readonly data: readonly {
    readonly recipient: { readonly legalName: string; readonly gstin?: string }
    readonly signed: string
    readonly supplier: object
  }[]
}

const issuedRows = ({ data }: Issued): readonly object[] =>
  data.map(({ recipient, signed: _signed, supplier: _supplier, ...document }) => ({
    ...document,
    recipient: recipient.legalName,
    gstin: recipient.gstin,
  }))

export function addTaxCommands(program: Command): void {
  const tax = program
    .command('tax')
    .description('tax registrations of merchants, monthly invoices of fees, the return of outward supplies')
  addOperation(tax, setTaxRegistrationInConsole, {
    name: 'registration',
    example:
      'svc admin tax registration mer_… --legal-name "Corner Shop LLP" --address "2 MG Road, Bengaluru" --gstin 29AAGCB7383J1Z4',
  })
  addOperation(tax, showTaxRegistration, {
    name: 'show-registration',
    example: 'svc admin tax show-registration mer_…',
  })
  addOperation(tax, issueTaxDocuments, {
    name: 'issue',
    rows: true,
    flags: { merchantId: { name: 'merchant' } },
    shown: issuedRows,
    description: 'issue the invoices of a month that is over: one for each merchant',
    more: 'The service does this by itself in the first days of the next month. A repeat issues only what was found since.',
    example: 'svc admin tax issue --month 2026-10',
  })
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
  addNotes(tax)
  addTdsCommands(tax)
  tax
    .command('gstr1')
    .description('print a section of the return of outward supplies, as the offline tool reads it')
    .requiredOption('--month <month>', 'YYYY-MM', readMonth)
    .option('--merchant <merchantId>', 'only this merchant')
    .addOption(new Option('--section <section>', 'which').choices(GSTR1_SECTIONS).makeOptionMandatory())
    .option('--csv', 'print CSV')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin tax gstr1 --month 2026-10 --section b2b --csv > b2b.csv')
    .action(printReturn)
}

function addNotes(tax: Command): void {
  addOperation(tax, issueCreditNoteInConsole, {
    name: 'credit-note',
    rows: true,
    by: ['number'],
    shown: issuedRows,
    description: 'give fees of an invoice back with their GST; the next payout of the merchant pays them',
    example: 'svc admin tax credit-note S/26-27/0000001 --amount 25.00 --reason "charged at the old rate"',
  })
  addOperation(tax, issueDebitNoteInConsole, {
    name: 'debit-note',
    rows: true,
    by: ['number'],
    shown: issuedRows,
    description:
      'take a credit note back that was issued by mistake, whole: its fee and GST are owed to us again',
    more: 'A credit note is taken back once: a repeat prints the same debit note. The next payout of the merchant deducts it.',
    example: 'svc admin tax debit-note C/26-27/0000001 --reason "of another merchant"',
  })
}

interface Return extends Printed {
  readonly month: string
  readonly merchant?: string
  readonly section: Gstr1Section
}

async function printReturn({ section, month, merchant, ...printed }: Return): Promise<void> {
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

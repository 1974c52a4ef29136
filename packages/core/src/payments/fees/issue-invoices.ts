import type { Config } from '@svc/contract/config'
import { fail } from '@svc/contract/errors'
import { groupBy } from '@svc/kernel/group-by'
import { type Paise, paise } from '@svc/kernel/money'
import { calendarDay } from '@svc/kernel/time'
import type { Keyring } from '@svc/platform/crypto/keyring'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { takeTurn } from '@svc/platform/db/turn'
import { saveEvents } from '@svc/platform/outbox'
import { financialYear, lastDayOf } from './gst.ts'
import { issuedEvent, signedDocument, type TaxDocument, type TaxParty, taxDocuments } from './tax-document.ts'

/** Until this day of the next month an invoice is dated the last day of its month. */
const DATED_BACK_UNTIL = 7

/** A journal of fees that is in no invoice. */
interface Uninvoiced {
  readonly merchantId: string
  readonly journalId: string
  readonly taxBasisPoints: number
  readonly count: bigint
  readonly feePaise: bigint
  readonly cgstPaise: bigint
  readonly sgstPaise: bigint
  readonly igstPaise: bigint
}

const UNINVOICED = statement<Uninvoiced>(
  'fees_uninvoiced',
  `select f.merchant_id as "merchantId", f.journal_id as "journalId", f.tax_basis_points as "taxBasisPoints",
     count(*) as count, sum(f.fee_paise)::bigint as "feePaise", sum(f.cgst_paise)::bigint as "cgstPaise",
     sum(f.sgst_paise)::bigint as "sgstPaise", sum(f.igst_paise)::bigint as "igstPaise"
   from journals j join fee_accruals f on f.merchant_id = j.tenant_id and f.journal_id = j.journal_id
   where j.kind = 'fee_accrual' and j.effective_date between $1::date and $2::date
     and ($3::text is null or j.tenant_id = $3)
     and not exists (select from tax_document_journals d
       where d.merchant_id = j.tenant_id and d.journal_id = j.journal_id)
   group by 1, 2, 3 order by 1, 2`,
)
const RECIPIENTS = statement<TaxParty & { merchantId: string }>(
  'tax_recipients',
  `select m.merchant_id as "merchantId", coalesce(r.legal_name, m.name) as "legalName",
     coalesce(r.address, '') as address, r.gstin, coalesce(r.state, d.gst_state, $2) as state
   from merchants m left join tax_registrations r using (merchant_id) left join payout_details d using (merchant_id)
   where m.merchant_id = any ($1)`,
)
const NEXT_NUMBER = statement<{ number: bigint }>(
  'tax_series_next',
  `insert into tax_series (series, financial_year, last_number) values ($1, $2, 1)
   on conflict (series, financial_year) do update set last_number = tax_series.last_number + 1
   returning last_number as number`,
)
const ASSIGN = statement(
  'tax_document_journals_insert_all',
  `insert into tax_document_journals (merchant_id, journal_id, document_id)
   select $1, w.journal_id, $3 from unnest($2::text[]) as w (journal_id)`,
)
const LIST = statement<TaxDocument>(
  'tax_documents_list',
  `select ${taxDocuments.columns} from tax_documents d
   where d.issue_date >= $1::date and d.issue_date < $1::date + interval '1 month'
     and ($2::text is null or d.merchant_id = $2)
   order by d.issue_date, d.number`,
)
const FIND = statement<TaxDocument>(
  'tax_document_by_number',
  `select ${taxDocuments.columns} from tax_documents d where d.number = $1`,
)

/** Who supplies, as the settings say; `undefined` where they do not. */
export function supplierOf(config: Config): TaxParty | undefined {
  const { SUPPLIER_ADDRESS: address, SUPPLIER_GSTIN: gstin, SUPPLIER_NAME: legalName } = config
  if (address === undefined || gstin === undefined || legalName === undefined) return undefined
  return { legalName, address, gstin, state: gstin.slice(0, 2) }
}

export interface IssueInvoices {
  readonly config: Config
  readonly keyring: Keyring
  readonly newId: (prefix: 'txd' | 'evt') => string
  /** `YYYY-MM`. */
  readonly month: string
  readonly merchantId?: string | undefined
  /** By the merchants' clocks. */
  readonly now: Date
}

/** The day of its number: the last one of the month, or the real one once others have declared the month. */
export function issueDateOf(month: string, today: string): string {
  const last = lastDayOf(month)
  const [, year, of] = /^(\d{4})-(\d{2})/.exec(last)!.map(Number) as [number, number, number]
  const until = new Date(Date.UTC(year, of, DATED_BACK_UNTIL)).toISOString().slice(0, 10)
  return today <= until ? last : today
}

/** Who issues documents waits for others under this name. */
export const TURN = 'tax documents'

export const numberOf = (series: string, year: string, n: bigint): string =>
  `${series}/${year}/${String(n).padStart(7, '0')}`

/** The next number of a series: its row stays locked until the transaction ends, so that none is missing. */
export async function nextNumber(tx: Tx, series: string, issueDate: string): Promise<string> {
  const year = financialYear(issueDate)
  const [row] = await tx.query(NEXT_NUMBER, [series, year])
  return numberOf(series, year, row!.number)
}

/**
 * One invoice for each merchant of a month that is over, of all fees that are in none (decision R24); of a month with two
 * rates of tax, or two places of supply, one for each. Fees that are found later are in a later one of the month. A repeat
 * issues nothing. Fees of the month must be entered.
 */
export async function issueInvoices(tx: Tx, issuing: IssueInvoices): Promise<TaxDocument[]> {
  const { config, month, merchantId, now } = issuing
  const today = calendarDay(now, config.BUSINESS_TIME_ZONE)
  if (today <= lastDayOf(month)) fail('period_not_over')
  const supplier = supplierOf(config) ?? fail('supplier_not_set')
  // Others wait for this transaction: no two read the same fees, and numbers are in the order of their dates.
  await takeTurn(tx, TURN)
  const found = await tx.query(UNINVOICED, [`${month}-01`, lastDayOf(month), merchantId ?? null])
  const merchantIds = [...new Set(found.map((each) => each.merchantId))]
  const recipients = await tx.query(RECIPIENTS, [merchantIds, config.GST_STATE])
  const recipientOf = new Map(recipients.map(({ merchantId: id, ...party }) => [id, party]))
  const issueDate = issueDateOf(month, today)
  const kindOf = ({ igstPaise, merchantId: id, taxBasisPoints }: Uninvoiced) =>
    `${id} ${taxBasisPoints} ${igstPaise === 0n ? 'within' : 'beyond'}`
  const issued: TaxDocument[] = []
  for (const fees of groupBy(found, kindOf).values())
    issued.push(await issue(tx, issuing, fees, recipientOf.get(fees[0]!.merchantId)!, supplier, issueDate))
  return issued
}

async function issue(
  tx: Tx,
  { config, keyring, month, newId, now }: IssueInvoices,
  fees: readonly Uninvoiced[],
  recipient: TaxParty,
  supplier: TaxParty,
  issueDate: string,
): Promise<TaxDocument> {
  const { merchantId, taxBasisPoints } = fees[0]!
  const sum = (part: (fee: Uninvoiced) => bigint): Paise =>
    paise(fees.reduce((total, fee) => total + part(fee), 0n))
  const document = {
    merchantId,
    documentId: newId('txd'),
    number: await nextNumber(tx, config.INVOICE_SERIES, issueDate),
    kind: 'INVOICE' as const,
    issueDate,
    month: `${month}-01`,
    supplier,
    recipient,
    placeOfSupply: recipient.state,
    sac: config.INVOICE_SAC,
    paymentCount: Number(sum(({ count }) => count)),
    taxablePaise: sum(({ feePaise }) => feePaise),
    taxBasisPoints,
    cgstPaise: sum(({ cgstPaise }) => cgstPaise),
    sgstPaise: sum(({ sgstPaise }) => sgstPaise),
    igstPaise: sum(({ igstPaise }) => igstPaise),
    originalNumber: null,
    creditNoteNumber: null,
  }
  const row: TaxDocument = { ...document, signed: signedDocument(document, keyring), createdAt: now }
  taxDocuments.insert(tx, [row])
  saveEvents(tx, [issuedEvent(row, newId('evt'))])
  await tx.query(ASSIGN, [merchantId, fees.map(({ journalId }) => journalId), row.documentId])
  return row
}

interface DocumentsOf {
  /** Dated in this month, `YYYY-MM`: those that a return of it has. */
  readonly datedIn: string
  readonly merchantId?: string | undefined
}

/** In the order of their dates and numbers. */
export const listTaxDocuments = (tx: Tx, { datedIn, merchantId }: DocumentsOf): Promise<TaxDocument[]> =>
  tx.query(LIST, [`${datedIn}-01`, merchantId ?? null])

export const findTaxDocument = async (tx: Tx, number: string): Promise<TaxDocument | undefined> =>
  (await tx.query(FIND, [number]))[0]

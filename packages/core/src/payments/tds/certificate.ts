import { failField } from '@svc/contract/fail-fields'
import { formatRupees } from '@svc/kernel/money'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { day, instant, nullable, paise, type RowOf, table, text } from '@svc/platform/db/table'
import { lastDayOfYear } from '../own-funds/year-end.ts'

/** Certificates of tax that merchants deducted at source on our fees (decision R29). */
export const tdsCertificates = table('tds_certificates', 'c', ['merchantId', 'certificateId'], {
  merchantId: text,
  certificateId: text,
  number: text,
  /** Such as `2026-27-Q1`. */
  quarter: text,
  amountPaise: paise,
  datedOn: day,
  journalId: text,
  /** The journal that took it back. */
  reversedBy: nullable(text),
  createdAt: instant,
})
export type TdsCertificate = RowOf<typeof tdsCertificates>

const LIST = statement<TdsCertificate>(
  'tds_certificates_list',
  `select ${tdsCertificates.columns} from tds_certificates c
   where ($1::text is null or c.merchant_id = $1) order by c.created_at desc, c.certificate_id desc limit $2`,
)

/** For operators, newest first. */
export const listTdsCertificates = (
  tx: Tx,
  merchantId: string | undefined,
  limit: number,
): Promise<TdsCertificate[]> => tx.query(LIST, [merchantId ?? null, limit])

/** The financial year of a quarter such as `2026-27-Q1`: its name and its last day. */
export function yearOfQuarter(quarter: string): { readonly year: string; readonly through: string } {
  const [, year] = /^(\d{4}-\d{2})-Q[1-4]$/.exec(quarter) ?? []
  if (year === undefined)
    return failField('quarter', 'invalid', 'must be a quarter of a financial year such as 2026-27-Q1')
  return { year, through: lastDayOfYear(year) }
}

/** Amounts as texts of rupees. */
export const tdsCertificateToWire = (certificate: TdsCertificate) => ({
  certificateId: certificate.certificateId,
  merchantId: certificate.merchantId,
  number: certificate.number,
  quarter: certificate.quarter,
  amount: formatRupees(certificate.amountPaise),
  date: certificate.datedOn,
  journalId: certificate.journalId,
  reversedBy: certificate.reversedBy ?? '',
  createdOn: certificate.createdAt.toISOString(),
})

import { newId } from '@svc/contract/id-kinds'
import { type ByTenant, idsByTenant } from '@svc/kernel/by-tenant'
import { type RandomBytes } from '@svc/kernel/ids'
import type { Tx, Writes } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { instant, type RowOf, table, text } from '@svc/platform/db/table'

/** Customers of a partner, whose employees hold cards. */
export const companies = table('companies', 'co', ['partnerId', 'companyId'], {
  companyId: text,
  partnerId: text,
  /** Legal name. */
  name: text,
  createdAt: instant,
})
export type Company = RowOf<typeof companies>

/** Puts a company under a new partner, in its transaction; returns its id. Everybody else runs `createCompany`. */
export function insertCompany(tx: Writes, random: RandomBytes, partnerId: string, name: string): string {
  const companyId = newId('com', Date.now(), random)
  companies.insert(tx, [{ companyId, partnerId, name, createdAt: new Date() }])
  return companyId
}

interface CompanyKey {
  readonly tenantId: string
  readonly companyId: string
}

const EXISTING = statement<CompanyKey>(
  'companies_existing',
  `select partner_id as "tenantId", company_id as "companyId" from companies
   where (partner_id, company_id) in (select * from unnest($1::text[], $2::text[]))`,
)
const tenantOf = ({ tenantId }: CompanyKey) => tenantId
const companyOf = ({ companyId }: CompanyKey) => companyId

/** The companies that exist, by partner. */
export async function findCompanies(tx: Tx, wanted: readonly CompanyKey[]): Promise<ByTenant<Set<string>>> {
  const rows = wanted.length === 0 ? [] : await tx.query(EXISTING, columns(wanted, tenantOf, companyOf))
  return idsByTenant(rows, tenantOf, companyOf)
}

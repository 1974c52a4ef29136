import type { MovedReference } from '@svc/core/tenants/homes'
import type pg from 'pg'
import { quoted } from '../backup/catalogue.ts'
import { rowsOf } from './cell-connection.ts'

/** Tables of tenants that a move does not copy while the tenant is served, and why. */
export const NOT_REPLICATED: Readonly<Record<string, string>> = {
  audit_log: 'carried at the end, behind what the other cell has of the chain',
  credential_refusals: 'carried at the end: written beside the traffic, also after the hold',
  credential_uses: 'carried at the end: written beside the traffic, also after the hold',
  moved_books: 'signed before the rows are copied, and kept by both cells',
  moved_references: 'of the cell that the tenant left',
  request_log: 'what this cell served',
  tenant_homes: 'the directory of the first cell',
  tenant_moves: 'which tenants are away from this cell',
  unnumbered_events: 'empty at the end: the events are numbered first',
  webhook_leases: 'of the processes of this cell',
}

/** Of these, the ones whose rows are carried at the end as they are then. */
export const CARRIED = ['credential_refusals', 'credential_uses'] as const

/** A table of tenants, with the column of its tenant. */
interface TenantTable {
  readonly name: string
  readonly column: string
}

/** Every table of tenants, as the policies have them. */
export const tenantTables = (client: pg.ClientBase): Promise<TenantTable[]> =>
  rowsOf(client, 'select name, tenant_column as "column" from tenant_tables() order by name')

/** Those that a move replicates. */
export const replicatedTables = async (client: pg.ClientBase): Promise<TenantTable[]> =>
  (await tenantTables(client)).filter(({ name }) => !(name in NOT_REPLICATED))

/** What names a tenant before it is known, by its kind: kept where it lived, so that requests for it are refused there. */
export const REFERENCES: Readonly<
  Record<MovedReference, { readonly table: string; readonly column: string; readonly sql: string }>
> = {
  api_key: { table: 'api_keys', column: 'tenant_id', sql: `encode(digest, 'hex')` },
  client: { table: 'oauth_clients', column: 'tenant_id', sql: 'client_id' },
  access_key: { table: 'merchants', column: 'merchant_id', sql: 'access_key' },
  tr: { table: 'qr_codes', column: 'merchant_id', sql: 'tr' },
  vpa: { table: 'merchants', column: 'merchant_id', sql: 'unnest(former_vpas || lower(vpa))' },
  virtual_account: { table: 'virtual_accounts', column: 'partner_id', sql: 'number' },
  card_token: { table: 'cards', column: 'partner_id', sql: 'token' },
  card_number: { table: 'cards', column: 'partner_id', sql: `encode(number_digest, 'hex')` },
}

/** Keeps what names these tenants; run again it adds nothing. */
export async function keepReferences(client: pg.ClientBase, tenants: readonly string[]): Promise<void> {
  for (const [what, { table, column, sql }] of Object.entries(REFERENCES))
    await client.query(
      `insert into moved_references (tenant_id, what, reference)
       select ${column}, $2, r.name from ${quoted(table)} cross join lateral (select ${sql} as name) r
       where ${column} = any ($1) and r.name is not null on conflict do nothing`,
      [tenants, what],
    )
}

/**
 * Deletes the rows of tenants in a database that is not their home, but for the audit, which nothing is deleted from. As a
 * replica: no trigger takes the rows for something that happens.
 */
export async function deleteRows(client: pg.ClientBase, tenants: readonly string[]): Promise<void> {
  await client.query('set local session_replication_role = replica; set local statement_timeout = 0')
  const tables = [
    ...(await replicatedTables(client)),
    ...CARRIED.map((name) => ({ name, column: 'tenant_id' })),
  ]
  for (const { name, column } of tables)
    await client.query(`delete from ${quoted(name)} where ${quoted(column)} = any ($1)`, [tenants])
}

/** How many rows of a table there are of these tenants, and a hash of all of them in whatever order. */
interface TableSum {
  readonly name: string
  readonly rows: string
  readonly hash: string
}

/** Sums of all replicated tables, in one statement. */
export async function sumTables(client: pg.ClientBase, tenants: readonly string[]): Promise<TableSum[]> {
  const each = (await replicatedTables(client)).map(
    ({ name, column }) =>
      `select '${name}' as name, count(*)::text as rows,
         coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)::text as hash
       from ${quoted(name)} t where t.${quoted(column)} = any ($1)`,
  )
  return rowsOf<TableSum>(client, each.join(' union all '), [tenants])
}

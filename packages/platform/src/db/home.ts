import { Failure } from '@svc/contract/errors'
import type { Database } from './database.ts'
import { statement } from './statement.ts'
import { sqlState } from './unavailable.ts'

/** Which cell a database is (decision X40); empty where the installation has one database. */
export interface Home {
  /** A letter, which what it issues contains. */
  readonly cell?: string
  /** Leading digits of the card numbers that it issues. */
  readonly cardRange?: string
}

const HOME = statement<{ cell: string | null; cardRange: string | null }>(
  'installation_home',
  'select cell, card_range as "cardRange" from installation',
)

export async function readHome(database: Database): Promise<Home> {
  const { cell, cardRange } = (await database.directory(HOME, [], 'silence'))[0]!
  return cell === null || cardRange === null ? {} : { cell, cardRange }
}

export interface Away {
  readonly tenantId: string
  /** The cell that serves it; `null` while it moves. */
  readonly home: string | null
}

/** Which of these tenants are not served here now. */
export const AWAY = statement<Away>(
  'tenants_away',
  'select tenant_id as "tenantId", home from tenants_away($1)',
)

/** For a moment no cell serves the tenant: a repeat finds the one that does. */
export const onItsWay = (cause?: unknown): Failure =>
  new Failure('temporarily_unavailable', {
    description: 'The tenant moves to another cell',
    retryAfterSeconds: 1,
    isOrderly: true,
    cause,
  })

/** SQLSTATE of a write for a tenant that is not served here now. */
const TENANT_AWAY = 'SV421'
const FOREIGN_KEY_VIOLATION = '23503'

/** Of a write that referred to a row of a tenant which had left with its rows. */
class TenantLeft extends Error {
  override name = 'TenantLeft'
}

/** Whether a write failed because its tenant is not served here now. */
export const isTenantAway = (error: unknown): boolean =>
  error instanceof TenantLeft || sqlState(error) === TENANT_AWAY

/** What failed a write for this tenant: that it left meanwhile, where the write learned only that a row is not there. */
export async function causeAtHome(database: Database, tenantId: string, cause: unknown): Promise<Error> {
  const isOfMissing = sqlState(cause) === FOREIGN_KEY_VIOLATION
  const away = isOfMissing ? await database.directory(AWAY, [[tenantId]]).catch(() => []) : []
  return away.length > 0 ? new TenantLeft(`${tenantId} has left this cell`, { cause }) : (cause as Error)
}

import { fail } from '@svc/contract/errors'
import { failFields } from '@svc/contract/fail-fields'
import { type FieldError, type FieldRule, fieldError, pointerTo } from '@svc/contract/field-errors'
import { type AnyScope, scopesOf } from '@svc/contract/scopes'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import {
  type IpRange,
  isInRange,
  networkOf,
  parseAddress,
  parseRange,
  rangeText,
} from '@svc/platform/ip-range'

/** Addresses and networks of one credential. */
export const ADDRESSES_MAX = 20

/** From where a credential may be used, and for what (decision A16). An empty list limits nothing. */
export interface CredentialLimits {
  readonly addresses: readonly string[]
  readonly scopes: readonly AnyScope[]
}

export const NO_LIMITS: CredentialLimits = { addresses: [], scopes: [] }

/** As the table has them: null limits nothing. */
export interface LimitsRow {
  readonly addresses: string[] | null
  readonly scopes: AnyScope[] | null
}

const LIST = statement<LimitsRow & { credentialId: string }>(
  'credential_limits_list',
  'select credential_id as "credentialId", addresses, scopes from credential_limits where tenant_id = $1',
)
const SAVE = statement(
  'credential_limits_save',
  `insert into credential_limits as l (tenant_id, credential_id, addresses, scopes, revision, changed_at)
   values ($1, $2, $3::text[], $4::text[], 1, case when $5 then '-infinity' else clock_timestamp() end)
   on conflict (tenant_id, credential_id) do update
     set addresses = $3::text[], scopes = $4::text[], revision = l.revision + 1, changed_at = clock_timestamp()
     where (l.addresses, l.scopes) is distinct from ($3::text[], $4::text[])`,
)

export const limitsOf = (row: LimitsRow | undefined): CredentialLimits =>
  row ? { addresses: row.addresses ?? [], scopes: row.scopes ?? [] } : NO_LIMITS

/** The limits of a tenant's credentials, by their ids. */
export async function listLimits(tx: Tx, tenantId: string): Promise<ReadonlyMap<string, CredentialLimits>> {
  const rows = await tx.query(LIST, [tenantId])
  return new Map(rows.map((row) => [row.credentialId, limitsOf(row)]))
}

/**
 * `isNew`: the credential is issued with them. No token of it names an older revision, so that it is not among the changes
 * that every process reads.
 */
export async function saveLimits(
  tx: Tx,
  { tenantId, credentialId }: { readonly tenantId: string; readonly credentialId: string },
  { addresses, scopes }: CredentialLimits,
  isNew = false,
): Promise<void> {
  const list = (texts: readonly string[]) => (texts.length > 0 ? texts : null)
  await tx.query(SAVE, [tenantId, credentialId, list(addresses), list(scopes), isNew])
}

const rangesOf = (texts: readonly string[]): readonly IpRange[] =>
  texts.map(parseRange).filter((range) => range !== undefined)

function rangeProblem(text: string): string | undefined {
  const range = parseRange(text)
  if (!range)
    return 'must be an IP address or a network in CIDR notation, such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32'
  if (range.prefix === 0) return 'must not be every address; leave the list empty for that'
  const network = networkOf(range)
  return rangeText(network) === rangeText(range)
    ? undefined
    : `has bits beyond its prefix; the network is ${rangeText(network)}`
}

/**
 * The limits as they are kept: each network once, in one way to write it. Throws `validation_failed`, which names every
 * entry that breaks a rule; `asField` is how the caller names the lists.
 */
export function readLimits(
  kind: 'merchant' | 'partner',
  { addresses = [], scopes = [] }: { addresses?: readonly string[]; scopes?: readonly string[] },
  asField: (list: 'addresses' | 'scopes') => string = (list) => list,
): CredentialLimits {
  const problems: FieldError[] = []
  const put = (list: 'addresses' | 'scopes', n: number, rule: FieldRule, mustBe: string) => {
    const name = asField(list)
    const pointer = pointerTo(name, String(n))
    problems.push({ in: 'body', pointer, rule, message: `${name}[${n}] ${mustBe}` })
  }
  if (addresses.length > ADDRESSES_MAX)
    problems.push(fieldError(asField('addresses'), 'max_items', `must have at most ${ADDRESSES_MAX} entries`))
  for (const [n, text] of addresses.entries()) {
    const problem = rangeProblem(text.trim())
    if (problem) put('addresses', n, 'format', problem)
  }
  const known = scopesOf(kind)
  const isKnown = (text: string): text is AnyScope => known.some((scope) => scope === text)
  for (const [n, text] of scopes.entries())
    if (!isKnown(text)) put('scopes', n, 'enum', `must be one of ${known.join(', ')}`)
  failFields(...problems)
  return {
    addresses: [...new Set(rangesOf(addresses.map((text) => text.trim())).map(rangeText))],
    scopes: known.filter((scope) => scopes.includes(scope)),
  }
}

/** Limits, ready to be checked with every request. */
export interface LiveLimits {
  readonly allows: (address: string) => boolean
  /** `undefined`: all. */
  readonly scopes: ReadonlySet<AnyScope> | undefined
}

export const UNLIMITED: LiveLimits = { allows: () => true, scopes: undefined }

export function liveLimits({ addresses, scopes }: CredentialLimits): LiveLimits {
  const ranges = rangesOf(addresses)
  return {
    scopes: scopes.length > 0 ? new Set(scopes) : undefined,
    allows(text) {
      if (addresses.length === 0) return true
      const address = parseAddress(text)
      return address !== undefined && ranges.some((range) => isInRange(range, address))
    },
  }
}

/** Names the caller's own address, never those that are allowed: who has a stolen secret learns nothing from it. */
export const refuseAddress = (address: string): never =>
  fail('address_not_allowed', {
    description: `The address ${address} is not among those from which this credential may be used`,
  })

import { fail } from '@svc/contract/errors'
import { required } from '@svc/kernel/invariant'
import type { Secret } from '@svc/kernel/secret'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { issueApiKey, type KeyMaker, revokeApiKey } from './api-key.ts'
import { type CredentialLimits, listLimits, NO_LIMITS, saveLimits } from './credential-limits.ts'
import { lastRefusals, type Refusal } from './credential-refusals.ts'
import { lastUses } from './credential-uses.ts'
import { issueOAuthClient, revokeOAuthClient } from './partner.ts'
import { kindOfTenant } from './tenant.ts'
import { announce } from './tenant-events.ts'

/** Hours for which a credential that was replaced goes on working. */
export const OVERLAP_HOURS = 24
export const OVERLAP_HOURS_MAX = 720

/** Credentials of a tenant that are neither revoked nor ended. */
export const CREDENTIALS_MAX = 50
/** What a tenant can issue in 24 hours, so that those who issue and revoke do not fill the list of revocations. */
export const ISSUED_A_DAY_MAX = 100

interface Kept {
  readonly credentialId: string
  readonly name: string
  /** Begin of an API key; OAuth clients have none. */
  readonly prefix?: string
  readonly createdAt: Date
  /** When it ends because it was replaced (decision A15). */
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
}

/** An API key of a merchant or an OAuth client of a partner, without its secret. */
export interface Credential extends Kept {
  /** Half a minute late at the most; `undefined` if it never was. */
  readonly lastUsedAt: Date | undefined
  readonly limits: CredentialLimits
  /** When it was used last from an address that the limits do not allow; `undefined` if it never was. */
  readonly lastRefusal: Refusal | undefined
}

export interface IssuedCredential {
  readonly credentialId: string
  /** Shown when it is issued and never again. */
  readonly secret: Secret
}

interface Count {
  readonly live: number
  readonly issued: number
  /** When the oldest that counts as issued is a day old. */
  readonly nextAt: Date | null
}

interface Kind {
  readonly count: ReturnType<typeof statement<Count>>
  readonly list: ReturnType<typeof statement<Kept>>
  readonly end: ReturnType<typeof statement<Kept>>
  readonly issue: (tx: Tx, maker: KeyMaker, tenantId: string, name: string) => Promise<IssuedCredential>
  readonly revoke: (tx: Tx, credentialId: string) => Promise<unknown>
}

const kind = (table: 'api_keys' | 'oauth_clients', id: string, more: string) => {
  const columns = `${id} as "credentialId", name, ${more} created_at as "createdAt",
    expires_at as "expiresAt", revoked_at as "revokedAt"`
  return {
    list: statement<Kept>(
      `${table}_kept`,
      `select ${columns} from ${table} where tenant_id = $1 order by ${id}`,
    ),
    count: statement<Count>(
      `${table}_count`,
      `select count(*) filter (where revoked_at is null and coalesce(expires_at, 'infinity') > clock_timestamp())::integer as live,
         count(*) filter (where created_at > day_ago)::integer as issued,
         min(created_at) filter (where created_at > day_ago) + interval '24 hours' as "nextAt"
       from ${table}, (select clock_timestamp() - interval '24 hours' as day_ago) d where tenant_id = $1`,
    ),
    end: statement<Kept>(
      `${table}_end`,
      `update ${table} set expires_at = clock_timestamp() + make_interval(hours => $3)
       where tenant_id = $1 and ${id} = $2 and revoked_at is null and expires_at is null
       returning ${columns}`,
    ),
  }
}

const MERCHANTS: Kind = {
  ...kind('api_keys', 'api_key_id', 'prefix,'),
  issue: async (tx, maker, tenantId, name) => {
    const { apiKeyId, secret } = await issueApiKey(tx, maker, tenantId, name)
    return { credentialId: apiKeyId, secret }
  },
  revoke: revokeApiKey,
}

const PARTNERS: Kind = {
  ...kind('oauth_clients', 'client_id', ''),
  issue: async (tx, maker, tenantId, name) => {
    const { clientId, clientSecret } = await issueOAuthClient(tx, maker, tenantId, name)
    return { credentialId: clientId, secret: clientSecret }
  },
  revoke: revokeOAuthClient,
}

const kindOf = (tenantId: string): Kind => (kindOfTenant(tenantId) === 'merchant' ? MERCHANTS : PARTNERS)

/** API keys of a merchant, OAuth clients of a partner, oldest first. */
export async function listCredentials(tx: Tx, tenantId: string): Promise<Credential[]> {
  const [found, uses, limits, refusals] = await Promise.all([
    tx.query(kindOf(tenantId).list, [tenantId]),
    lastUses(tx, tenantId),
    listLimits(tx, tenantId),
    lastRefusals(tx, tenantId),
  ])
  return found.map((one) => ({
    ...one,
    lastUsedAt: uses.get(one.credentialId),
    limits: limits.get(one.credentialId) ?? NO_LIMITS,
    lastRefusal: refusals.get(one.credentialId),
  }))
}

/** Throws `credential_not_found`. */
export async function requireCredential(tx: Tx, tenantId: string, credentialId: string): Promise<Credential> {
  const all = await listCredentials(tx, tenantId)
  return all.find((one) => one.credentialId === credentialId) ?? fail('credential_not_found')
}

export interface NewCredential {
  readonly tenantId: string
  readonly name: string
  readonly limits?: CredentialLimits
}

// Of two that are issued at once, by different processes, the second one counts the first.
const LOCK = statement(
  'credentials_lock',
  `select pg_advisory_xact_lock(hashtextextended('svc credentials ' || $1, 0))`,
)

/** Until the end of the transaction no credential of the tenant is issued. */
export const lockCredentials = async (tx: Tx, tenantId: string): Promise<void> =>
  void (await tx.query(LOCK, [tenantId]))

async function requireRoom(tx: Tx, tenantId: string): Promise<void> {
  await lockCredentials(tx, tenantId)
  const { live, issued, nextAt } = required(
    (await tx.query(kindOf(tenantId).count, [tenantId]))[0],
    'a count',
  )
  if (live >= CREDENTIALS_MAX)
    fail('too_many_credentials', { description: `The tenant has ${CREDENTIALS_MAX} credentials in use` })
  if (issued >= ISSUED_A_DAY_MAX)
    fail('too_many_credentials', {
      description: `The tenant was issued ${ISSUED_A_DAY_MAX} credentials in 24 hours; the next can be issued from ${nextAt?.toISOString()}`,
    })
}

/** Throws `tenant_closing`, or `too_many_credentials`. */
export async function issueCredential(
  tx: Tx,
  maker: KeyMaker,
  { tenantId, name, limits = NO_LIMITS }: NewCredential,
): Promise<IssuedCredential> {
  await requireRoom(tx, tenantId)
  const issued = await kindOf(tenantId).issue(tx, maker, tenantId, name)
  const { credentialId } = issued
  announce(tx, tenantId, 'credential.issued', credentialId, { credentialId, name })
  if (limits.addresses.length + limits.scopes.length > 0)
    await saveLimits(tx, { tenantId, credentialId: issued.credentialId }, limits, true)
  return issued
}

/**
 * Sets from where a credential may be used and for what (decision A16); within a second it holds for its tokens in every
 * process. Throws `credential_not_found`, or `credential_ended` for one that was revoked.
 */
export async function limitCredential(
  tx: Tx,
  wanted: { readonly tenantId: string; readonly credentialId: string },
  limits: CredentialLimits,
): Promise<Credential> {
  const { tenantId, credentialId } = wanted
  const { revokedAt } = await requireCredential(tx, tenantId, credentialId)
  if (revokedAt) return fail('credential_ended')
  await saveLimits(tx, wanted, limits)
  return requireCredential(tx, tenantId, credentialId)
}

/** For good; its tokens die within a second in every process. Throws `credential_not_found`. */
export async function revokeCredential(tx: Tx, tenantId: string, credentialId: string): Promise<Credential> {
  await requireCredential(tx, tenantId, credentialId)
  await kindOf(tenantId).revoke(tx, credentialId)
  return requireCredential(tx, tenantId, credentialId)
}

/**
 * Issues a credential in the place of another, of the same name and limits; the other one and its tokens go on for some
 * hours.
 * Throws `credential_not_found`, `too_many_credentials`, or `credential_ended` for one that was revoked or replaced before.
 */
export async function rollCredential(
  tx: Tx,
  maker: KeyMaker,
  { tenantId, credentialId, hours }: { tenantId: string; credentialId: string; hours: number },
): Promise<{ readonly issued: IssuedCredential; readonly replaced: Kept & { readonly expiresAt: Date } }> {
  const { name, limits } = await requireCredential(tx, tenantId, credentialId)
  const [replaced] = await tx.query(kindOf(tenantId).end, [tenantId, credentialId, hours])
  if (!replaced?.expiresAt) return fail('credential_ended')
  const issued = await issueCredential(tx, maker, { tenantId, name, limits })
  return { issued, replaced: { ...replaced, expiresAt: replaced.expiresAt } }
}

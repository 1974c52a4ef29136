import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { base32, newId, type RandomBytes } from '../kernel/ids.ts'
import { Secret } from '../kernel/secret.ts'
import type { Keyring } from '../platform/crypto/keyring.ts'
import type { Tx } from '../platform/db/database.ts'
import { statement } from '../platform/db/statement.ts'
import { type OutboxEvent, saveEvents } from '../platform/outbox.ts'

const FORM = /^svc_(?:test|live)_[0-9a-z]{32}_[0-9a-z]{6}$/

const checksum = (text: string): string => {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(text))
  return base32(sum)
}

/** `svc_<test or live>_<160 random bits>_<checksum>` (decision A5): scanners know it, typing errors show at once. */
export function newApiKey(mode: 'test' | 'live', random: RandomBytes): Secret {
  const text = `svc_${mode}_${base32(random(20))}`
  return new Secret(`${text}_${checksum(text)}`)
}

/** Whether the key can be one of ours at all; those that cannot never reach the database. */
export function looksLikeApiKey(text: string): boolean {
  return FORM.test(text) && text.endsWith(`_${checksum(text.slice(0, text.lastIndexOf('_')))}`)
}

/** What may be shown of a key, to tell it from others. */
export const apiKeyPrefix = (key: string): string => key.slice(0, 'svc_test_'.length + 6)

export interface ApiKey {
  readonly apiKeyId: string
  readonly tenantId: string
  readonly name: string
  readonly prefix: string
  readonly createdAt: Date
  readonly revokedAt: Date | null
}

interface ApiKeyRow {
  api_key_id: string
  tenant_id: string
  name: string
  prefix: string
  created_at: Date
  revoked_at: Date | null
}

const toApiKey = (row: ApiKeyRow): ApiKey => ({
  apiKeyId: row.api_key_id,
  tenantId: row.tenant_id,
  name: row.name,
  prefix: row.prefix,
  createdAt: row.created_at,
  revokedAt: row.revoked_at,
})

const INSERT = statement(
  'api_key_insert',
  `insert into api_keys (api_key_id, tenant_id, name, prefix, digest, created_at) values ($1, $2, $3, $4, $5, clock_timestamp())`,
)
const LIST = statement<ApiKeyRow>(
  'api_keys_list',
  `select api_key_id, tenant_id, name, prefix, created_at, revoked_at from api_keys where tenant_id = $1 order by api_key_id`,
)
const REVOKE = statement<ApiKeyRow & { newly: boolean }>(
  'api_key_revoke',
  `with former as (select revoked_at as formerly from api_keys where api_key_id = $1 for no key update)
   update api_keys set revoked_at = coalesce(revoked_at, clock_timestamp()) from former where api_key_id = $1
   returning api_key_id, tenant_id, name, prefix, created_at, revoked_at, formerly is null as newly`,
)

export interface KeyMaker {
  readonly keyring: Keyring
  readonly random: RandomBytes
  readonly mode: 'test' | 'live'
}

/** Issues one more live key for a tenant. The secret is shown here and never again: only its keyed digest is kept. */
export async function issueApiKey(
  tx: Tx,
  maker: KeyMaker,
  tenantId: string,
  name: string,
): Promise<{ apiKeyId: string; secret: Secret }> {
  const secret = newApiKey(maker.mode, maker.random)
  const apiKeyId = newId('key', Date.now(), maker.random)
  const text = secret.reveal()
  await tx.query(INSERT, [
    apiKeyId,
    tenantId,
    name,
    apiKeyPrefix(text),
    maker.keyring.digest('api_key_digest', text),
  ])
  return { apiKeyId, secret }
}

export const listApiKeys = async (tx: Tx, tenantId: string): Promise<ApiKey[]> =>
  (await tx.query(LIST, [tenantId])).map(toApiKey)

/** Revokes a key for good; its tokens die within a second in every process. `undefined` when there is no such key. */
export async function revokeApiKey(tx: Tx, apiKeyId: string): Promise<ApiKey | undefined> {
  const [row] = await tx.query(REVOKE, [apiKeyId])
  if (!row) return undefined
  const key = toApiKey(row)
  if (row.newly) saveEvents(tx, [revokedEvent(key, row.revoked_at!)])
  return key
}

const revokedEvent = ({ apiKeyId, tenantId, name, prefix, createdAt }: ApiKey, at: Date): OutboxEvent => ({
  eventId: newId('evt', at.getTime(), randomBytes),
  tenantId,
  type: 'api_key.revoked',
  objectId: apiKeyId,
  payload: { apiKeyId, name, prefix, createdOn: createdAt.toISOString(), revokedOn: at.toISOString() },
  createdAt: at,
})

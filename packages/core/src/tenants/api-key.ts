import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { inCell, newId } from '@svc/contract/id-kinds'
import { base32, type RandomBytes } from '@svc/kernel/ids'
import { Secret } from '@svc/kernel/secret'
import type { Keyring } from '@svc/platform/crypto/keyring'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import {
  bytes,
  generated,
  instant,
  nullable,
  type RowOf,
  secret,
  stamped,
  table,
  text,
} from '@svc/platform/db/table'
import { type OutboxEvent, saveEvents } from '@svc/platform/outbox'
import { requireOpenTenant } from './tenant.ts'
import { announce } from './tenant-events.ts'

const FORM = /^svc_(?:test|live)_(?:[a-z]_)?[0-9a-z]{32}_[0-9a-z]{6}$/

const checksum = (text: string): string => {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(text))
  return base32(sum)
}

/**
 * `svc_<test or live>_<160 random bits>_<checksum>` (decision A5): scanners know it, typing errors show at once. In a cell
 * its letter is before the random bits.
 */
export function newApiKey(mode: 'test' | 'live', random: RandomBytes, cell?: string): Secret {
  const key = `svc_${mode}_${inCell(cell)}${base32(random(20))}`
  return new Secret(`${key}_${checksum(key)}`)
}

/** Whether the key has the form of our keys; others never reach the database. */
export function looksLikeApiKey(text: string): boolean {
  return FORM.test(text) && text.endsWith(`_${checksum(text.slice(0, text.lastIndexOf('_')))}`)
}

const SHOWN = /^svc_(?:test|live)_(?:[a-z]_)?.{0,6}/
/** What may be shown of a key, to distinguish it from others. */
export const apiKeyPrefix = (key: string): string => SHOWN.exec(key)?.[0] ?? key.slice(0, 15)

export const apiKeys = table('api_keys', 'k', ['tenantId', 'apiKeyId'], {
  apiKeyId: text,
  tenantId: text,
  name: text,
  prefix: text,
  digest: secret(bytes),
  createdAt: stamped(instant),
  expiresAt: generated(nullable(instant)),
  revokedAt: generated(nullable(instant)),
})
export type ApiKey = RowOf<typeof apiKeys>

const LIST = statement<ApiKey>(
  'api_keys_list',
  `select ${apiKeys.columns} from api_keys k where k.tenant_id = $1 order by k.api_key_id`,
)
const REVOKE = statement<ApiKey & { newly: boolean }>(
  'api_key_revoke',
  `with previous as (select revoked_at as formerly from api_keys where api_key_id = $1 for no key update)
   update api_keys k set revoked_at = coalesce(k.revoked_at, clock_timestamp()) from previous where k.api_key_id = $1
   returning ${apiKeys.columns}, formerly is null as newly`,
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
  await requireOpenTenant(tx, tenantId)
  const issued = newApiKey(maker.mode, maker.random, maker.keyring.home.cell)
  const apiKeyId = newId('key', Date.now(), maker.random)
  const key = issued.reveal()
  const digest = maker.keyring.digest('api_key_digest', key)
  apiKeys.insert(tx, [{ apiKeyId, tenantId, name, prefix: apiKeyPrefix(key), digest }])
  return { apiKeyId, secret: issued }
}

export const listApiKeys = (tx: Tx, tenantId: string): Promise<ApiKey[]> => tx.query(LIST, [tenantId])

/** Revokes a key for good; its tokens die within a second in every process. `undefined` when there is no such key. */
export async function revokeApiKey(tx: Tx, apiKeyId: string): Promise<ApiKey | undefined> {
  const [revoked] = await tx.query(REVOKE, [apiKeyId])
  if (!revoked) return undefined
  const { newly, ...key } = revoked
  if (newly) {
    const { name, tenantId } = key
    saveEvents(tx, [revokedEvent(key, key.revokedAt!)])
    announce(tx, tenantId, 'credential.revoked', apiKeyId, { credentialId: apiKeyId, name })
  }
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

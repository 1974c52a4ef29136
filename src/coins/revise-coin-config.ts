import { fail } from '../errors.ts'
import type { Writes } from '../platform/db/database.ts'
import { saveEvents } from '../platform/outbox.ts'
import { type CoinConfig, coinConfigEvent, etagOf } from './coin-config.ts'
import { saveRevisions } from './coin-config-store.ts'

/** A change of a configuration that is to be made, by whichever operation. */
export interface Revise {
  readonly tenantId: string
  readonly coinConfigId: string
  /** Tags of `If-Match`, `*` among them for any revision; `undefined` when it was not sent. */
  readonly ifMatch: readonly string[] | undefined
  readonly eventId: string
  readonly timeZone: string
}

export interface Revised {
  readonly config: CoinConfig
  /** False when it was like that before: nothing is written. */
  readonly changed: boolean
  readonly command: Revise
}

const TAG = /^(?:\*|(?:W\/)?"[\x21\x23-\x7e]*")$/

/** RFC 9110 section 13.1.1. */
export function readIfMatch(header: string | string[] | undefined): string[] | undefined {
  if (header === undefined) return undefined
  const tags = String(header)
    .split(',')
    .map((tag) => tag.trim())
  if (!tags.every((tag) => TAG.test(tag)))
    fail('validation_failed', {
      description: 'If-Match: must be the ETag of the look-up, such as "3", with its quotes',
    })
  return tags
}

/** The configuration to be changed, at the revision that the caller knows; strangers' are like missing ones. */
export function currentOf(
  configs: ReadonlyMap<string, CoinConfig>,
  { tenantId, coinConfigId, ifMatch }: Revise,
): CoinConfig {
  const config = configs.get(coinConfigId)
  if (config?.partnerId !== tenantId) return fail('coin_config_not_found')
  if (ifMatch && !ifMatch.includes('*') && !ifMatch.includes(etagOf(config))) fail('revision_mismatch')
  return config
}

/** The next revision, unless nothing would be different. */
export function revised(config: CoinConfig, terms: Partial<CoinConfig>, command: Revise, now: Date): Revised {
  const changed = (Object.keys(terms) as (keyof CoinConfig)[]).some(
    (name) => config[name]?.valueOf() !== terms[name]?.valueOf(),
  )
  if (!changed) return { config, changed, command }
  return { config: { ...config, ...terms, revision: config.revision + 1, modifiedAt: now }, changed, command }
}

export function saveRevised(tx: Writes, decisions: readonly Revised[]): void {
  const changed = decisions.filter((decision) => decision.changed)
  saveRevisions(
    tx,
    changed.map(({ config }) => config),
  )
  saveEvents(
    tx,
    changed.map(({ config, command }) => coinConfigEvent(config, command.eventId, command.timeZone)),
  )
}

import { fail } from '@svc/contract/errors'
import type { CommandTools } from '@svc/platform/command'
import type { Writes } from '@svc/platform/db/database'
import { saveEvents } from '@svc/platform/outbox'
import { type CoinConfig, coinConfigEvent } from './coin-config.ts'
import { type CoinConfigs, saveRevisions } from './coin-config-store.ts'

/** A configuration to be changed, and the revisions at which the caller wants it changed (decision K7). */
export interface ReviseCoinConfig {
  readonly partnerId: string
  readonly coinConfigId: string
  /** `any` for any revision that exists; `undefined` when the caller did not say. */
  readonly atRevision: readonly number[] | 'any' | undefined
}

export interface Revise extends ReviseCoinConfig {
  readonly tenantId: string
  readonly eventId: string
  readonly timeZone: string
}

export interface Revised {
  readonly config: CoinConfig
  /** False when it was like that before: nothing is written. */
  readonly changed: boolean
  readonly revise: Revise
}

/** What every change of a configuration carries to its batch. */
export const prepareRevise =
  ({ config, newId }: CommandTools) =>
  <Args extends ReviseCoinConfig>(args: Args): Args & Revise => ({
    ...args,
    tenantId: args.partnerId,
    eventId: newId('evt'),
    timeZone: config.BUSINESS_TIME_ZONE,
  })

/** The configuration to be changed, at the revision that the caller knows. */
export function currentOf(configs: CoinConfigs, { coinConfigId, atRevision }: ReviseCoinConfig): CoinConfig {
  const config = configs.get(coinConfigId) ?? fail('coin_config_not_found')
  if (atRevision !== undefined && atRevision !== 'any' && !atRevision.includes(config.revision))
    fail('revision_mismatch')
  return config
}

/** The next revision, unless nothing would be different. */
export function revised(config: CoinConfig, terms: Partial<CoinConfig>, revise: Revise, now: Date): Revised {
  const changed = (Object.keys(terms) as (keyof CoinConfig)[]).some(
    (name) => config[name]?.valueOf() !== terms[name]?.valueOf(),
  )
  if (!changed) return { config, changed, revise }
  return { config: { ...config, ...terms, revision: config.revision + 1, modifiedAt: now }, changed, revise }
}

export const applyRevised = (configs: CoinConfigs, { config }: Revised): void =>
  void configs.set(config.coinConfigId, config)

export function saveRevised(tx: Writes, decisions: readonly Revised[]): void {
  const changed = decisions.filter((decision) => decision.changed)
  saveRevisions(
    tx,
    changed.map(({ config }) => config),
  )
  saveEvents(
    tx,
    changed.map(({ config, revise }) => coinConfigEvent(config, revise.eventId, revise.timeZone)),
  )
}

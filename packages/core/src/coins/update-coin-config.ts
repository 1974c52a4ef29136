import { fail } from '@svc/contract/errors'
import { command } from '@svc/platform/command'
import { type CoinConfig, requireConsistent, requireNoOverlap } from './coin-config.ts'
import { lockCoinConfigs } from './coin-config-store.ts'
import {
  applyRevised,
  currentOf,
  prepareRevise,
  type ReviseCoinConfig,
  revised,
  saveRevised,
} from './revise-coin-config.ts'

/** Its event, kind and company never change (decision K7). */
export type CoinConfigTerms = Partial<
  Pick<
    CoinConfig,
    | 'amount'
    | 'title'
    | 'description'
    | 'status'
    | 'validFrom'
    | 'validTo'
    | 'perUserDailyLimit'
    | 'coinsExpireAfterDays'
    | 'activation'
    | 'activateAfterDays'
  >
>

interface UpdateCoinConfig extends ReviseCoinConfig {
  /** An absent field stays, `null` removes one. */
  readonly terms: CoinConfigTerms
}

/** Changes the terms of a configuration (decision K3). */
export const updateCoinConfig = command({
  name: 'updateCoinConfig',

  prepare(tools) {
    const prepare = prepareRevise(tools)
    return (args: UpdateCoinConfig) => prepare(args)
  },

  lock: (tx, changes) => lockCoinConfigs(tx, changes),

  decide(configs, update, now) {
    const current = currentOf(configs, update)
    if (update.atRevision === undefined) fail('revision_required')
    const decision = revised(current, update.terms, update, now)
    requireConsistent(decision.config)
    requireNoOverlap(decision.config, configs.values())
    return decision
  },

  apply: applyRevised,
  save: saveRevised,
})

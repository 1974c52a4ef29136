import { command } from '@svc/platform/command'
import { lockCoinConfigs } from './coin-config-store.ts'
import {
  applyRevised,
  currentOf,
  prepareRevise,
  type ReviseCoinConfig,
  revised,
  saveRevised,
} from './revise-coin-config.ts'

/** Stops the awards of a configuration (decision K3); a repeat changes nothing. */
export const deactivateCoinConfig = command({
  name: 'deactivateCoinConfig',

  prepare(tools) {
    const prepare = prepareRevise(tools)
    return (args: ReviseCoinConfig) => prepare(args)
  },

  lock: (tx, changes) => lockCoinConfigs(tx, changes),
  decide: (configs, deactivate, now) =>
    revised(currentOf(configs, deactivate), { status: 'INACTIVE' }, deactivate, now),
  apply: applyRevised,
  save: saveRevised,
})

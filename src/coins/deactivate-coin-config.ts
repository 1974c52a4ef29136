import { newId } from '../kernel/ids.ts'
import { command, NoFields, ok } from '../platform/http/operation.ts'
import { CoinConfigParams, CoinConfigRecord, toWire } from './coin-config.ts'
import { lockCoinConfigs } from './coin-config-store.ts'
import {
  currentOf,
  type Revise,
  type Revised,
  readIfMatch,
  revised,
  saveRevised,
} from './revise-coin-config.ts'

/** Ours (decision K3): from now on the configuration awards nothing; a repeat gets the first answer. */
export const deactivateCoinConfig = command({
  id: 'deactivateCoinConfig',
  method: 'POST',
  path: '/api/v0/svc-coins/:coinConfigId/deactivate',
  tag: 'Coins',
  summary: 'Deactivate coin configuration',
  description:
    'Coins that were awarded stay. Deactivating again answers the same. `If-Match` is optional here: whoever stops awards means to stop them whatever the terms. An update with `status` `ACTIVE` brings it back.',
  auth: 'partner',
  family: 'response_code',
  headers: { 'If-Match': 'The `ETag` of the look-up; when sent, it must be the current one' },
  params: CoinConfigParams,
  body: NoFields,
  result: CoinConfigRecord,
  errors: ['coin_config_not_found', 'revision_mismatch'],

  prepare:
    ({ clock, random, config }) =>
    ({ caller, params, headers }): Revise => ({
      tenantId: caller.tenantId,
      coinConfigId: params.coinConfigId,
      ifMatch: readIfMatch(headers['if-match']),
      eventId: newId('evt', clock.now(), random),
      timeZone: config.BUSINESS_TIME_ZONE,
    }),

  lock: (tx, changes: readonly Revise[]) => lockCoinConfigs(tx, changes),
  decide: (configs, deactivate, now): Revised =>
    revised(currentOf(configs, deactivate), { status: 'INACTIVE' }, deactivate, now),
  apply: (configs, { config }) => void configs.set(config.coinConfigId, config),
  save: saveRevised,
  answer: ({ config, command }) => ok(toWire(config, command.timeZone)),
})

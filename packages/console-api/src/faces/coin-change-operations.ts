import { fail } from '@svc/contract/errors'
import { CoinConfigParams, CoinConfigRecord, toWire } from '@svc/core/coins/coin-config'
import { createCoinConfig } from '@svc/core/coins/create-coin-config'
import { deactivateCoinConfig } from '@svc/core/coins/deactivate-coin-config'
import { updateCoinConfig } from '@svc/core/coins/update-coin-config'
import { findPartner } from '@svc/core/tenants/partner'
import type { Database } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import {
  CreateCoinConfigRequest,
  createCoinConfigOperation,
  readCoinConfig,
  readTerms,
  UpdateCoinConfigRequest,
} from '@svc/server/coins/coin-configs'
import { operation } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { auditOf } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation } from '../console-schema.ts'

const TAG = 'Coins'
const PATH = `${CONSOLE_API}/coin-configs`

const PARTNER = statement<{ partnerId: string }>(
  'console_coin_config_partner',
  'select partner_id as "partnerId" from coin_configs where coin_config_id = $1',
)
const partnerOf = async (database: Database, coinConfigId: string): Promise<string> =>
  (await database.operate((tx) => tx.query(PARTNER, [coinConfigId])))[0]?.partnerId ??
  fail('coin_config_not_found')

export const createCoinConfigInConsole = operation({
  ...consoleOperation,
  id: 'console.createCoinConfig',
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Create coin configuration for a partner',
  description: '`config` is what the partner itself would send.',
  permission: 'operations',
  body: closed({ partnerId: Type.String({ maxLength: 128 }), config: CreateCoinConfigRequest }),
  result: CoinConfigRecord,
  errors: ['partner_not_found', ...createCoinConfigOperation.errors],
  run: createCoinConfig,
  args: async ({ body: { partnerId, config } }, { database }) => {
    if (!(await database.operate((tx) => findPartner(tx, partnerId)))) fail('partner_not_found')
    return { partnerId, request: readCoinConfig(config) }
  },
  audit: ({ partnerId }, input) =>
    auditOf(partnerId, input, {
      action: 'coin_config.created',
      target: ({ config }) => config.coinConfigId,
    }),
  reply: ({ config }, { timeZone }) => ({ status: 200, body: JSON.stringify(toWire(config, timeZone)) }),
})

export const updateCoinConfigInConsole = operation({
  ...consoleOperation,
  id: 'console.updateCoinConfig',
  method: 'PATCH',
  path: `${PATH}/:coinConfigId`,
  tag: TAG,
  summary: 'Change the terms of a coin configuration',
  description:
    'A merge patch of the revision that you saw: of two concurrent changes only the first succeeds. Coins that were awarded keep their terms.',
  permission: 'operations',
  params: CoinConfigParams,
  body: closed({ revision: Type.Integer({ minimum: 1 }), terms: UpdateCoinConfigRequest }),
  result: CoinConfigRecord,
  errors: ['coin_config_not_found', 'coin_config_overlaps', 'revision_mismatch'],
  run: updateCoinConfig,
  args: async ({ body: { revision, terms }, params: { coinConfigId } }, { database }) => ({
    partnerId: await partnerOf(database, coinConfigId),
    coinConfigId,
    atRevision: [revision],
    terms: readTerms(terms),
  }),
  audit: ({ partnerId, coinConfigId }, input) =>
    auditOf(partnerId, input, { action: 'coin_config.changed', target: coinConfigId }),
  reply: ({ config }, { timeZone }) => ({ status: 200, body: JSON.stringify(toWire(config, timeZone)) }),
})

export const deactivateCoinConfigInConsole = operation({
  ...consoleOperation,
  id: 'console.deactivateCoinConfig',
  method: 'POST',
  path: `${PATH}/:coinConfigId/deactivate`,
  tag: TAG,
  summary: 'Stop the awards of a coin configuration',
  permission: 'operations',
  params: CoinConfigParams,
  result: CoinConfigRecord,
  errors: ['coin_config_not_found'],
  run: deactivateCoinConfig,
  args: async ({ params: { coinConfigId } }, { database }) => ({
    partnerId: await partnerOf(database, coinConfigId),
    coinConfigId,
    atRevision: undefined,
  }),
  audit: ({ partnerId, coinConfigId }, input) =>
    auditOf(partnerId, input, { action: 'coin_config.deactivated', target: coinConfigId }),
  reply: ({ config }, { timeZone }) => ({ status: 200, body: JSON.stringify(toWire(config, timeZone)) }),
})

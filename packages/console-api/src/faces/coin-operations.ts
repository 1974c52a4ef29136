import { fail } from '@svc/contract/errors'
import { newId } from '@svc/contract/id-kinds'
import { AllocationRecord } from '@svc/core/coins/allocation'
import { type CoinConfig, CoinConfigRecord, toWire } from '@svc/core/coins/coin-config'
import { dryRunAllocation, dryRunToWire } from '@svc/core/coins/dry-run-allocation'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { readAllocation } from '@svc/server/coins/allocations'
import { AllocationStateRecord, readAllocationsOf } from '@svc/server/coins/get-coin-allocation'
import { BalanceRecord, readCoinBalance } from '@svc/server/coins/get-coin-balance'
import { coinConfigRevision } from '@svc/server/coins/list-coin-config-revisions'
import { coinHistoryEntry, type ListedEntry } from '@svc/server/coins/list-coin-history'
import { coinConfig } from '@svc/server/coins/search-coin-configs'
import { query } from '@svc/server/http/operation'
import { Cursor, LIMIT_DEFAULT } from '@svc/server/http/page'
import { findRow, listOf, readRecords, recordOf } from '@svc/server/http/resource'
import { Type } from 'typebox'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  maybe,
  record,
  since,
  text,
} from '../console-schema.ts'

const TAG = 'Coins'
const id = Type.String({ minLength: 1, maxLength: 128 })

const REVISIONS_SHOWN = 100
const USER = statement<{ readonly partnerId: string; readonly companyId: string }>(
  'console_coin_user',
  'select partner_id as "partnerId", company_id as "companyId" from users where user_id = $1',
)

const findUser = async (tx: Tx, userId: string) =>
  (await tx.query(USER, [userId]))[0] ?? fail('user_not_found')

export const listCoinConfigs = listOf<CoinConfig>(coinConfig, {
  ...consoleOperation,
  id: 'console.listCoinConfigs',
  path: `${CONSOLE_API}/coin-configs`,
  tag: TAG,
  summary: 'List coin configurations of all partners',
  permission: 'view',
})

export const showCoinConfig = query({
  ...consoleOperation,
  id: 'console.showCoinConfig',
  method: 'GET',
  path: `${CONSOLE_API}/coin-configs/:coinConfigId`,
  tag: TAG,
  summary: 'Show coin configuration with its revisions',
  permission: 'view',
  params: idParam('coinConfigId'),
  result: record('CoinConfigDetail', {
    partnerId: text(),
    config: CoinConfigRecord,
    revisions: Type.Array(CoinConfigRecord, { description: 'The newest 100, newest first' }),
  }),
  errors: ['coin_config_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { coinConfigId } }) => {
      const { config, revisions } = await database.operate(async (tx) => {
        const found = await findRow<CoinConfig>(tx, coinConfig, { reader: 'operator' }, coinConfigId)
        const config = found ?? fail('coin_config_not_found')
        const scope = { reader: 'operator', tenantId: config.partnerId } as const
        const wanted = { coinConfigId, limit: REVISIONS_SHOWN, uncounted: true }
        const revisions = await readRecords<CoinConfig>(tx, coinConfigRevision, scope, wanted, timeZone)
        return { config, revisions: revisions.data }
      })
      return {
        body: JSON.stringify({
          partnerId: config.partnerId,
          config: toWire(config, timeZone),
          revisions,
        }),
      }
    }
  },
})

export const tryAllocation = query({
  ...consoleOperation,
  id: 'console.tryAllocation',
  method: 'POST',
  path: `${CONSOLE_API}/coin-dry-runs`,
  tag: TAG,
  summary: 'Preview an award',
  description: 'Says what an event would award, and why. Changes nothing.',
  permission: 'view',
  body: closed({
    userId: id,
    event: id,
    occurredOn: since('When the event happened; now by default'),
  }),
  result: AllocationRecord,
  errors: ['user_not_found'],
  mount(services) {
    const { clock, config, database, random } = services
    const dryRun = dryRunAllocation(services)
    return async ({ body }) => {
      const { partnerId, companyId } = await database.operate((tx) => findUser(tx, body.userId))
      // A dry run needs an id that no real request has.
      const requestId = newId('try', clock.now(), random)
      const tried = await dryRun(readAllocation(partnerId, { ...body, companyId, requestId }))
      return { body: JSON.stringify(dryRunToWire(tried, config.BUSINESS_TIME_ZONE)) }
    }
  },
})

export const showUserCoins = query({
  ...consoleOperation,
  id: 'console.showUserCoins',
  method: 'GET',
  path: `${CONSOLE_API}/users/:userId/coins`,
  tag: TAG,
  summary: 'Show coin balance, allocations and history of a user',
  permission: 'view',
  params: idParam('userId'),
  query: closed({ after: Type.Optional(Cursor) }),
  result: record('UserCoins', {
    balance: BalanceRecord,
    allocations: Type.Array(AllocationStateRecord, { description: 'The newest 50, newest first' }),
    history: Type.Array(recordOf<ListedEntry>(coinHistoryEntry, 'operator'), {
      description: '50 entries, newest first',
    }),
    next: maybe(),
  }),
  errors: ['user_not_found'],
  mount({ clock, config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { userId }, query: { after } }) => {
      const { balance, allocations, history } = await database.operate(async (tx) => {
        const { partnerId } = await findUser(tx, userId)
        const wanted = { partnerId, userId, limit: LIMIT_DEFAULT }
        const scope = { reader: 'operator', tenantId: partnerId } as const
        const page = { userId, ...(after !== undefined && { after }), uncounted: true }
        const [balance, allocations, history] = await Promise.all([
          readCoinBalance(tx, wanted, clock, timeZone),
          readAllocationsOf(tx, wanted, clock, timeZone),
          readRecords<ListedEntry>(tx, coinHistoryEntry, scope, page, timeZone),
        ])
        return { balance, allocations, history }
      })
      return { body: JSON.stringify({ balance, allocations, history: history.data, next: history.next }) }
    }
  },
})

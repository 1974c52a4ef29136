import { Type } from 'typebox'
import { allocateCoins } from '../coins/allocate-coins.ts'
import { AllocationRecord } from '../coins/allocation.ts'
import { CoinConfigRecord, toWire } from '../coins/coin-config.ts'
import {
  COIN_CONFIG_COLUMNS,
  type CoinConfigRow as StoredConfig,
  toCoinConfig,
} from '../coins/coin-config-store.ts'
import { getCoinBalance } from '../coins/get-coin-balance.ts'
import { listCoinConfigRevisions } from '../coins/list-coin-config-revisions.ts'
import { HistoryEntry, listCoinHistory } from '../coins/list-coin-history.ts'
import { fail } from '../errors.ts'
import { newId } from '../kernel/ids.ts'
import { statement } from '../platform/db/statement.ts'
import type { Services } from '../platform/http/operation.ts'
import { query } from '../platform/http/operation.ts'
import { payloadOf } from './as-operator.ts'
import {
  BY_TIME,
  CONSOLE_API,
  closed,
  consoleOperation,
  exact,
  idParam,
  listOf,
  listQuery,
  maybe,
  oneOf,
  record,
  since,
  text,
} from './console-schema.ts'
import { Filters, readList } from './list.ts'

const TAG = 'Coins'
const id = Type.String({ minLength: 1, maxLength: 128 })
const CoinConfigRow = record('CoinConfigRow', { partnerId: text(), config: CoinConfigRecord })

const REVISIONS_SHOWN = '100'
const FIND = statement<StoredConfig>(
  'console_coin_config',
  `select ${COIN_CONFIG_COLUMNS} from coin_configs c where c.coin_config_id = $1`,
)
const USER = statement<{ partner_id: string; company_id: string }>(
  'console_coin_user',
  'select partner_id, company_id from users where user_id = $1',
)

const findUser = async ({ database }: Services, userId: string) =>
  (await database.operate((tx) => tx.query(USER, [userId])))[0] ?? fail('user_not_found')

export const listCoinConfigs = query({
  ...consoleOperation,
  id: 'listCoinConfigs',
  method: 'GET',
  path: `${CONSOLE_API}/coin-configs`,
  tag: TAG,
  summary: 'List coin configurations of all partners',
  role: 'viewer',
  query: listQuery(BY_TIME, {
    q: exact('Id'),
    partnerId: exact('Of this partner'),
    companyId: exact('Of this company'),
    event: exact('Of this event; needs `partnerId` or `companyId`'),
    status: oneOf(['ACTIVE', 'INACTIVE'], 'Only these'),
    configuration: oneOf(['DEFAULT', 'CUSTOM'], 'Only these'),
  }),
  result: listOf(CoinConfigRow),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const { q, companyId, configuration, event, partnerId, sort, status } = query
      if (event !== undefined && partnerId === undefined && companyId === undefined)
        fail('validation_failed', { description: 'event: needs partnerId or companyId' })
      const filters = new Filters()
        .add('c.coin_config_id = ?', q)
        .add('c.partner_id = ?', partnerId)
        // The indexes of configurations begin with the partner.
        .add(
          'c.company_id = ? and c.partner_id = (select partner_id from companies where company_id = ?)',
          companyId,
        )
        .add('c.event = ?', event)
        .add('c.status = ?', status)
        .add('c.configuration = ?', configuration)
      const plan = {
        columns: COIN_CONFIG_COLUMNS,
        table: 'coin_configs c',
        alias: 'c',
        filters,
        keys: [{ sql: 'c.coin_config_id', type: 'text' } as const],
        descending: sort !== 'created',
      }
      const page = await database.operate((tx) =>
        readList(tx, plan, query, (row: StoredConfig) => ({
          partnerId: row.partner_id,
          config: toWire(toCoinConfig(row), timeZone),
        })),
      )
      return { body: JSON.stringify(page) }
    }
  },
})

export const showCoinConfig = query({
  ...consoleOperation,
  id: 'showCoinConfig',
  method: 'GET',
  path: `${CONSOLE_API}/coin-configs/:coinConfigId`,
  tag: TAG,
  summary: 'Show coin configuration with its revisions',
  role: 'viewer',
  params: idParam('coinConfigId'),
  result: record('CoinConfigDetail', {
    partnerId: text(),
    config: CoinConfigRecord,
    revisions: Type.Array(CoinConfigRecord, { description: 'The newest 100, newest first' }),
  }),
  errors: ['coin_config_not_found'],
  mount(services) {
    const { config, database } = services
    const revisionsOf = listCoinConfigRevisions.mount(services)
    return async (input) => {
      const { coinConfigId } = input.params
      const [row] = await database.operate((tx) => tx.query(FIND, [coinConfigId]))
      const { partner_id: partnerId } = row ?? fail('coin_config_not_found')
      const query = { limit: REVISIONS_SHOWN }
      const revisions = await revisionsOf({
        ...input,
        caller: { tenantId: partnerId },
        query,
        body: undefined,
      })
      return {
        body: JSON.stringify({
          partnerId,
          config: toWire(toCoinConfig(row!), config.BUSINESS_TIME_ZONE),
          revisions: payloadOf<{ data: unknown[] }>(revisions.body).data,
        }),
      }
    }
  },
})

export const tryAllocation = query({
  ...consoleOperation,
  id: 'tryAllocation',
  method: 'POST',
  path: `${CONSOLE_API}/coin-dry-runs`,
  tag: TAG,
  summary: 'What would an event award, and why',
  description: 'Changes nothing.',
  role: 'viewer',
  body: closed({
    userId: id,
    event: id,
    occurredOn: since('When the event happened; now by default'),
  }),
  result: AllocationRecord,
  errors: ['user_not_found'],
  mount(services) {
    const { clock, random } = services
    const allocate = allocateCoins.mount(services)
    return async (input) => {
      const user = await findUser(services, input.body.userId)
      const { partner_id: tenantId, company_id: companyId } = user
      // A dry run needs an id that no real request has.
      const requestId = newId('try', clock.now(), random)
      const body = { ...input.body, companyId, requestId, dryRun: true }
      const tried = await allocate({ ...input, caller: { tenantId }, body })
      return { body: JSON.stringify(payloadOf(tried.body)) }
    }
  },
})

export const showUserCoins = query({
  ...consoleOperation,
  id: 'showUserCoins',
  method: 'GET',
  path: `${CONSOLE_API}/users/:userId/coins`,
  tag: TAG,
  summary: 'Show coin balance and history of a user',
  role: 'viewer',
  params: idParam('userId'),
  query: closed({ after: maybe('The `next` of the page before') }),
  result: record('UserCoins', {
    balance: getCoinBalance.result,
    history: Type.Array(HistoryEntry, { description: '50 entries, newest first' }),
    next: maybe(),
  }),
  errors: ['user_not_found'],
  mount(services) {
    const balanceOf = getCoinBalance.mount(services)
    const historyOf = listCoinHistory.mount(services)
    return async (input) => {
      const { userId } = input.params
      const { partner_id: tenantId } = await findUser(services, userId)
      const asked = { ...input, caller: { tenantId }, params: { userId }, body: undefined }
      const [balance, history] = await Promise.all([balanceOf({ ...asked, query: {} }), historyOf(asked)])
      const { data, next } = payloadOf<{ data: unknown[]; next?: string }>(history.body)
      return { body: JSON.stringify({ balance: payloadOf(balance.body), history: data, next }) }
    }
  },
})

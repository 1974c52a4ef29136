import { Type } from 'typebox'
import { AllocationRecord } from '../coins/allocation.ts'
import { CoinConfigRecord } from '../coins/coin-config.ts'
import { getCoinBalance } from '../coins/get-coin-balance.ts'
import { HistoryEntry } from '../coins/list-coin-history.ts'
import { query } from '../platform/http/operation.ts'
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
import { later } from './later.ts'

const TAG = 'Coins'
const id = Type.String({ minLength: 1, maxLength: 128 })
const CoinConfigRow = record('CoinConfigRow', { partnerId: text(), config: CoinConfigRecord })

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
    companyId: exact('Of this company; needs `partnerId`'),
    event: exact('Of this event; needs `partnerId`'),
    status: oneOf(['ACTIVE', 'INACTIVE'], 'Only these'),
    configuration: oneOf(['DEFAULT', 'CUSTOM'], 'Only these'),
  }),
  result: listOf(CoinConfigRow),
  errors: [],
  mount: later,
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
  mount: later,
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
  mount: later,
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
  mount: later,
})

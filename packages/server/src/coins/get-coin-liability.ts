import {
  LIABILITY_FIELDS,
  liabilityToWire,
  RupeesPerCoin,
  readCoinLiability,
} from '@svc/core/coins/coin-liability'
import { Type } from 'typebox'
import { query, succeed } from '../http/operation.ts'
import { ofCoins } from './coin-configs.ts'

/** Ours (decision K13): what the partner's users hold, for the partner's books. */
export const getCoinLiability = query({
  ...ofCoins('coins:read'),
  id: 'getCoinLiability',
  method: 'GET',
  path: '/api/v0/svc-coins/reports/liability',
  summary: 'Get coin liability',
  description:
    'Coins that all users of the partner hold now, and how many of them expire soon. With `rupeesPerCoin`, also what they are worth.',
  query: Type.Object({ rupeesPerCoin: Type.Optional(RupeesPerCoin) }, { additionalProperties: false }),
  result: Type.Object(LIABILITY_FIELDS, { title: 'CoinLiability', additionalProperties: false }),
  errors: [],

  mount({ database, clock }) {
    return async ({ caller: { tenantId: partnerId }, query: { rupeesPerCoin } }) => {
      const [found] = await database.read([partnerId], (tx) => readCoinLiability(tx, clock, partnerId))
      return {
        headers: { 'cache-control': 'no-store' },
        body: succeed(liabilityToWire(found, rupeesPerCoin)),
      }
    }
  },
})

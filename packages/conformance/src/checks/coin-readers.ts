import { type Check, decided } from '../check.ts'
import { isDone, wantFailure, wantValue } from '../expect.ts'
import { interpretationOf } from '../interpretation.ts'
import { PATHS } from '../subject.ts'
import { coinConfigId } from './coin-record.ts'

export const COIN_READER_CHECKS: readonly Check[] = [
  decided(
    '4.5.merchant',
    'decision K4',
    'A merchant’s token reads what its linked partner has, or is invalid where COIN_LOOKUP_TOKEN is partner',
    async (s) => {
      const path = `${PATHS.coins}/${s.credentials.coinConfigId ?? 'ccf_00000000000000000000000000'}`
      const response = await s.call('GET', path, undefined, await s.asMerchant())
      if ((await interpretationOf(s, 'COIN_LOOKUP_TOKEN')) === 'partner')
        return wantFailure(response, 401, 'invalid_token')
      // A merchant that is not linked to the partner finds nothing (decision K4).
      if (!isDone(response)) return wantFailure(response, 404, 'coin_config_not_found')
      wantValue(response, 'payload.coinConfigId', coinConfigId(s))
    },
  ),
]

import { type Check, decided, specified } from '../check.ts'
import { errorOf, fail, wantFailure, wantStatus } from '../expect.ts'
import { interpretationOf } from '../interpretation.ts'
import { cancelPath, skip } from '../subject.ts'
import { wantActive } from './cancelled-code.ts'

export const ACCESS_KEY_CHECKS: readonly Check[] = [
  specified(
    '4.2.accessKey.own',
    '§4.2, merchantAccessKey',
    'merchantAccessKey may be sent beside the token',
    async (s) => {
      const merchantAccessKey =
        s.merchant().accessKey ?? skip('the credentials of merchant have no accessKey')
      wantStatus(await s.cancel(await s.newQrCode(), { merchantAccessKey }), 200)
    },
  ),
  decided(
    '4.2.accessKey.other',
    'decision A6',
    'Another merchant’s access key beside the token is 403',
    async (s) => {
      const merchantAccessKey =
        s.merchant('otherMerchant').accessKey ?? skip('the credentials of otherMerchant have no accessKey')
      const response = await s.cancel(await s.newQrCode(), { merchantAccessKey })
      wantFailure(response, 403, 'access_key_mismatch')
    },
  ),
  decided(
    '4.2.accessKey.alone',
    'decision A6',
    'An access key alone cancels nothing, 401, unless ACCESS_KEY_ALONE is accept',
    async (s) => {
      const merchantAccessKey =
        s.merchant().accessKey ?? skip('the credentials of merchant have no accessKey')
      const qrCodeId = await s.newQrCode()
      const response = await s.call('PATCH', cancelPath(qrCodeId), {}, { merchantAccessKey })
      if ((await interpretationOf(s, 'ACCESS_KEY_ALONE')) === 'accept') return wantStatus(response, 200)
      wantStatus(response, 401)
      if (errorOf(response)?.error !== 'invalid_token') fail(response, 'error invalid_token', response.text)
      await wantActive(s, qrCodeId)
    },
  ),
]

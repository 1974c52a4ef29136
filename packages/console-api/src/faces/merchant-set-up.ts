import { fail } from '@svc/contract/errors'
import { findMerchant } from '@svc/core/tenants/merchant'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { CONSOLE_API, consoleOperation, idParam, record, text } from '../console-schema.ts'
import { MERCHANT_STEPS, merchantSteps } from '../portal/home-steps.ts'

/** Steps of the operator between a new merchant and its first key, in their order. */
const STEPS = ['bank_account', 'handover'] as const

export const showMerchantSetUp = query({
  ...consoleOperation,
  id: 'console.showMerchantSetUp',
  method: 'GET',
  path: `${CONSOLE_API}/merchants/:merchantId/set-up`,
  tag: 'Merchants',
  summary: 'Show how far a merchant is set up',
  description:
    'Which step of the operator is next, and what the merchant has done since: whether a link was used, and whether it has keys, a code, a webhook, payments and payouts.',
  permission: 'view',
  params: idParam('merchantId'),
  result: record('MerchantSetUp', {
    merchantId: text(),
    name: text(),
    vpa: text(),
    mcc: text(),
    handedOver: Type.Boolean({ description: 'Whether it has keys, or a link that hands some over' }),
    next: Type.Optional(Type.Enum([...STEPS], { description: 'Absent when nothing is missing' })),
    steps: Type.Array(
      record('MerchantStep', { step: Type.Enum([...MERCHANT_STEPS]), isDone: Type.Boolean() }),
    ),
  }),
  errors: ['merchant_not_found'],
  mount({ database }) {
    return async ({ params: { merchantId } }) => {
      const { found, hasLink, steps } = await database.operate(async (tx) => ({
        found: (await findMerchant(tx, merchantId)) ?? fail('merchant_not_found'),
        ...(await merchantSteps(tx, merchantId)),
      }))
      const { name, vpa, mcc } = found
      const handedOver = hasLink || steps.credential
      const missing = { bank_account: !steps.bank_account, handover: !handedOver }
      return {
        body: JSON.stringify({
          merchantId,
          name,
          vpa,
          mcc,
          handedOver,
          next: STEPS.find((step) => missing[step]),
          steps: MERCHANT_STEPS.map((step) => ({ step, isDone: steps[step] })),
        }),
      }
    }
  },
})

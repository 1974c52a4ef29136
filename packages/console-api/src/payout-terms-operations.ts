import { fail } from '@svc/contract/errors'
import { findPayoutDetails, listMerchantFees } from '@svc/core/qr-codes/payout-terms'
import { findMerchant } from '@svc/core/tenants/merchant'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import {
  CONSOLE_API,
  consoleOperation,
  idParam,
  instant,
  maybe,
  record,
  rupeesText,
  text,
} from './console-schema.ts'

export const showPayoutTerms = query({
  ...consoleOperation,
  id: 'console.showPayoutTerms',
  method: 'GET',
  path: `${CONSOLE_API}/merchants/:merchantId/payout-terms`,
  tag: 'Payouts',
  summary: 'Show the bank account that a merchant is paid to, and what it is charged',
  permission: 'view',
  params: idParam('merchantId'),
  result: record('PayoutTerms', {
    bankAccount: Type.Optional(
      record('MerchantBankAccount', {
        holder: text(),
        ends: text('The last four digits of its number'),
        ifsc: text('Code of the branch'),
        gstState: maybe('GST state code; absent: taxed within one state'),
        updatedOn: instant,
      }),
    ),
    fees: Type.Array(
      record('MerchantFee', {
        validFrom: text('Business day from which it is charged, `YYYY-MM-DD`'),
        percent: text('Of the amount of each payment, with two decimals'),
        fixed: rupeesText,
      }),
      { description: 'Latest first; before the first of them nothing is charged' },
    ),
  }),
  errors: ['merchant_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { merchantId } }) => {
      const { details, fees } = await database.operate(async (tx) => {
        if (!(await findMerchant(tx, merchantId))) fail('merchant_not_found')
        return {
          details: await findPayoutDetails(tx, merchantId),
          fees: await listMerchantFees(tx, merchantId),
        }
      })
      return {
        body: JSON.stringify({
          bankAccount: details && {
            holder: details.accountHolder,
            ends: details.accountNumber.slice(-4),
            ifsc: details.ifsc,
            gstState: details.gstState ?? undefined,
            updatedOn: rfc3339(details.updatedAt, timeZone),
          },
          fees: fees.map(({ validFrom, basisPoints, fixedPaise }) => ({
            validFrom,
            percent: formatRupees(BigInt(basisPoints)),
            fixed: formatRupees(fixedPaise),
          })),
        }),
      }
    }
  },
})

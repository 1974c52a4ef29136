import { fail } from '@svc/contract/errors'
import {
  findTaxRegistration,
  setTaxRegistration,
  type TaxRegistration,
} from '@svc/core/payments/fees/tax-registration'
import { findMerchant } from '@svc/core/tenants/merchant'
import { required } from '@svc/kernel/invariant'
import { rfc3339 } from '@svc/kernel/time'
import { FreeText } from '@svc/server/http/fields'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { asOperator } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  idParam,
  instant,
  maybe,
  record,
  text,
} from '../console-schema.ts'

const ofMerchant = {
  ...consoleOperation,
  tag: 'Tax documents',
  path: `${CONSOLE_API}/merchants/:merchantId/tax-registration`,
  params: idParam('merchantId'),
  result: record('TaxRegistration', {
    merchantId: text(),
    legalName: text(),
    address: text(),
    gstin: maybe('Absent where there is none'),
    state: text('GST state code'),
    updatedOn: instant,
  }),
} as const

const toWire = ({ gstin, updatedAt, ...registration }: TaxRegistration, timeZone: string) => ({
  ...registration,
  gstin: gstin ?? undefined,
  updatedOn: rfc3339(updatedAt, timeZone),
})

export const showTaxRegistration = query({
  ...ofMerchant,
  id: 'console.showTaxRegistration',
  method: 'GET',
  summary: 'Show who a merchant is to the tax office',
  permission: 'view',
  errors: ['merchant_not_found', 'tax_registration_not_found'],
  mount({ config, database }) {
    return async ({ params: { merchantId } }) => {
      const found = await database.operate(async (tx) => {
        if (!(await findMerchant(tx, merchantId))) fail('merchant_not_found')
        return (await findTaxRegistration(tx, merchantId)) ?? fail('tax_registration_not_found')
      })
      return { body: JSON.stringify(toWire(found, config.BUSINESS_TIME_ZONE)) }
    }
  },
})

export const setTaxRegistrationInConsole = query({
  ...ofMerchant,
  id: 'console.setTaxRegistration',
  stepUp: true,
  method: 'PUT',
  summary: 'Set who a merchant is to the tax office',
  description: 'Decides from now on how the fees of the merchant are taxed, and names it on its invoices.',
  permission: 'finance',
  body: closed({
    legalName: FreeText(200, 'As registered'),
    address: FreeText(500, 'Of its principal place of business'),
    gstin: Type.Optional(Type.String({ maxLength: 15, description: 'Decides CGST and SGST, or IGST' })),
    state: Type.Optional(
      Type.String({ maxLength: 2, description: 'GST state code of a merchant without a GSTIN' }),
    ),
  }),
  errors: ['merchant_not_found'],
  mount(services) {
    return async (input) => {
      const { merchantId } = input.params
      const found = await asOperator(services, input, async (tx) => {
        if (!(await findMerchant(tx, merchantId))) fail('merchant_not_found')
        await setTaxRegistration(tx, merchantId, input.body)
        return required(await findTaxRegistration(tx, merchantId), 'what was set is there')
      })
      return { body: JSON.stringify(toWire(found, services.config.BUSINESS_TIME_ZONE)) }
    }
  },
})

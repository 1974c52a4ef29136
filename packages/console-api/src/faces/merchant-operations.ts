import { fail } from '@svc/contract/errors'
import { accountId, accountIdOf } from '@svc/core/ledger/accounts'
import {
  ADDRESS_TAKEN,
  createMerchant,
  findMerchant,
  isAddressTaken,
  linkMerchant,
  type Merchant,
  registerMerchant,
  setMerchantDisabled,
  updateMerchant,
} from '@svc/core/tenants/merchant'
import { findPartner } from '@svc/core/tenants/partner'
import { formatRupees } from '@svc/kernel/money'
import { statement } from '@svc/platform/db/statement'
import { query } from '@svc/server/http/operation'
import { fieldsOf, listOf, type Resource, recordOf, toRecord } from '@svc/server/http/resource'
import { merchant } from '@svc/server/tenants/merchants'
import {
  MCC_PATTERN,
  PAYEE_NAME_PATTERN,
  PAYEE_NAME_RULE,
  STORED_VALUE_LOAD_MCC,
  VPA_PATTERN,
} from '@svc/upi-qr/upi-uri'
import { Type } from 'typebox'
import { asOperator, keyMakerOf } from '../as-operator.ts'
import {
  CONSOLE_API,
  closed,
  consoleOperation,
  exact,
  idParam,
  record,
  rupeesText,
  text,
} from '../console-schema.ts'
import { keyedQuery, onceAsOperator } from '../once.ts'
import { IssuedRecord, issuedToWire } from './credential-records.ts'
import { checkEnabling, ENABLING } from './enable-tenant.ts'
import { LATELY, LATELY_TEXT, SUMS } from './figure-sources.ts'
import { requireShown, showsSecrets } from './sandbox-secret.ts'

const TAG = 'Merchants'
const PATH = `${CONSOLE_API}/merchants`
const params = idParam('merchantId')
const MerchantRecord = recordOf(merchant, 'operator')
const toWire = toRecord<Merchant>(merchant, 'operator')

const BALANCE = statement<{ balance: bigint }>(
  'console_account_balance',
  'select balance from ledger_accounts where account_id = $1',
)
/** A merchant with what it is owed, and what it took lately. */
type ListedMerchant = Merchant & { readonly owedPaise: bigint; readonly takenPaise: bigint }

const listedMerchant = {
  ...merchant,
  titles: { operator: 'MerchantRow' },
  from: {
    ...merchant.from,
    columns: `${merchant.from.columns}, coalesce(l.balance, 0)::bigint as "owedPaise", w.taken as "takenPaise"`,
    joins: `${merchant.from.joins} cross join lateral ${accountIdOf('payable', 'm.merchant_id')}
      left join ledger_accounts l on l.tenant_id = m.merchant_id and l.account_id = key.account_id
      cross join lateral (
        select coalesce(sum(p.amount_paise), 0)::bigint as taken from payments p
        where p.merchant_id = m.merchant_id and ${SUMS.payments.source.where} and ${LATELY('p.created_at')}) w`,
  },
  fields: {
    ...merchant.fields,
    taken: {
      schema: Type.String({ description: `Rupees of payments that were accepted, ${LATELY_TEXT}` }),
      of: ({ takenPaise }) => formatRupees(takenPaise),
    },
    owed: {
      schema: Type.String({ description: 'Rupees, before fees' }),
      of: ({ owedPaise }) => formatRupees(owedPaise),
    },
  },
} satisfies Resource<ListedMerchant>

export const listMerchants = listOf<ListedMerchant>(listedMerchant, {
  ...consoleOperation,
  id: 'console.listMerchants',
  path: PATH,
  tag: TAG,
  summary: 'List merchants',
  permission: 'view',
})

export const showMerchant = query({
  ...consoleOperation,
  id: 'console.showMerchant',
  method: 'GET',
  path: `${PATH}/:merchantId`,
  tag: TAG,
  summary: 'Show merchant',
  permission: 'view',
  params,
  result: record('MerchantDetail', {
    ...fieldsOf(merchant, 'operator'),
    payable: rupeesText,
    payableAccountId: text('Ledger account of what it is owed'),
  }),
  errors: ['merchant_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { merchantId } }) => {
      const payableAccountId = accountId('payable', merchantId)
      const detail = await database.operate(async (tx) => {
        const found = (await findMerchant(tx, merchantId)) ?? fail('merchant_not_found')
        const [payable] = await tx.query(BALANCE, [payableAccountId])
        return {
          ...toWire(found, timeZone),
          payable: formatRupees(payable?.balance ?? 0n),
          payableAccountId,
        }
      })
      return { body: JSON.stringify(detail) }
    }
  },
})

export const Data = {
  name: Type.String({
    pattern: PAYEE_NAME_PATTERN,
    'x-rule': PAYEE_NAME_RULE,
    description: 'Name that payers see',
  }),
  vpa: Type.String({
    maxLength: 255,
    pattern: VPA_PATTERN,
    'x-rule': 'must look like name@handle',
    description: 'Virtual payment address that its QR codes are paid to',
  }),
  mcc: Type.String({
    pattern: MCC_PATTERN,
    'x-rule': 'must be four digits',
    description: 'Merchant category code, four digits (ISO 18245)',
  }),
}

/** What the database says of an address that another merchant has, as the caller's mistake. */
export function vpaTaken(error: unknown): never {
  if (isAddressTaken(error)) fail('already_exists', { description: `vpa: ${ADDRESS_TAKEN}` })
  throw error
}

export const createMerchantInConsole = keyedQuery({
  ...consoleOperation,
  id: 'console.createMerchant',
  stepUp: true,
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Create merchant, in sandbox mode with a first API key',
  permission: 'operations',
  body: closed({
    ...Data,
    firstKey: Type.Optional(
      Type.Boolean({
        description: 'Sandbox only; true by default there. In live mode a hand-over issues it (decision O8)',
      }),
    ),
  }),
  result: closed({ merchant: MerchantRecord, credential: Type.Optional(IssuedRecord) }),
  errors: ['already_exists', 'mcc_not_allowed', 'secret_not_shown'],
  mount(services) {
    const { config } = services
    return async (input) => {
      const { name, vpa, mcc, firstKey = showsSecrets(config) } = input.body
      if (firstKey) requireShown(config)
      if (mcc === STORED_VALUE_LOAD_MCC) fail('mcc_not_allowed')
      return onceAsOperator(services, { method: 'POST', path: PATH }, input, async (tx) => {
        const wanted = { name, vpa, mcc }
        const maker = keyMakerOf(services)
        const { merchant, apiKey } = firstKey
          ? await createMerchant(tx, maker, wanted)
          : { merchant: await registerMerchant(tx, maker, wanted), apiKey: undefined }
        return {
          merchant: toWire(merchant, config.BUSINESS_TIME_ZONE),
          credential: apiKey && issuedToWire({ ...apiKey, credentialId: apiKey.apiKeyId }),
        }
      }).catch(vpaTaken)
    }
  },
})

export const editMerchant = query({
  ...consoleOperation,
  id: 'console.editMerchant',
  stepUp: true,
  method: 'PATCH',
  path: `${PATH}/:merchantId/data`,
  tag: TAG,
  summary: 'Change name, payment address or category of a merchant',
  description:
    'For the QR codes that it creates from then on; codes that are printed keep what they say. Name and category hold at once. A new address waits for `APPROVER_COOLING_DAYS`, and the merchant is notified: until then it can be taken back, by the merchant too. The present address as the new one takes back what waits.',
  permission: 'operations',
  params,
  body: closed({
    name: Type.Optional(Data.name),
    vpa: Type.Optional(Data.vpa),
    mcc: Type.Optional(Data.mcc),
  }),
  result: MerchantRecord,
  errors: ['merchant_not_found', 'already_exists', 'mcc_not_allowed'],
  mount(services) {
    return async (input) => {
      const { params, body } = input
      if (body.mcc === STORED_VALUE_LOAD_MCC) fail('mcc_not_allowed')
      const changed = await asOperator(services, input, (tx) =>
        updateMerchant(tx, params.merchantId, body),
      ).catch(vpaTaken)
      const merchant = changed ?? fail('merchant_not_found')
      return { body: JSON.stringify(toWire(merchant, services.config.BUSINESS_TIME_ZONE)) }
    }
  },
})

export const changeMerchant = query({
  ...consoleOperation,
  id: 'console.changeMerchant',
  method: 'PATCH',
  path: `${PATH}/:merchantId`,
  tag: TAG,
  summary: 'Disable or enable merchant',
  description: ENABLING,
  permission: 'operations',
  params,
  body: closed({ disabled: Type.Boolean() }),
  result: MerchantRecord,
  errors: ['merchant_not_found', 'step_up_required'],
  mount(services) {
    return async (input) => {
      const { params, body } = input
      const merchant = await asOperator(services, input, async (tx) => {
        if (!body.disabled) await checkEnabling(tx, input.caller, params.merchantId)
        return setMerchantDisabled(tx, params.merchantId, body.disabled)
      })
      return {
        body: JSON.stringify(
          toWire(merchant ?? fail('merchant_not_found'), services.config.BUSINESS_TIME_ZONE),
        ),
      }
    }
  },
})

export const linkMerchantInConsole = query({
  ...consoleOperation,
  id: 'console.linkMerchant',
  method: 'PUT',
  path: `${PATH}/:merchantId/partner`,
  tag: TAG,
  summary: 'Let a merchant read the coin configurations of a partner',
  permission: 'operations',
  params,
  body: closed({ partnerId: exact('Without one it reads none any more', 128) }),
  result: MerchantRecord,
  errors: ['merchant_not_found', 'partner_not_found'],
  mount(services) {
    return async (input) => {
      const { merchantId } = input.params
      const { partnerId } = input.body
      const linked = await asOperator(services, input, async (tx) => {
        if (partnerId !== undefined && !(await findPartner(tx, partnerId))) fail('partner_not_found')
        return linkMerchant(tx, merchantId, partnerId ?? null)
      })
      const merchant = linked ?? fail('merchant_not_found')
      return { body: JSON.stringify(toWire(merchant, services.config.BUSINESS_TIME_ZONE)) }
    }
  },
})

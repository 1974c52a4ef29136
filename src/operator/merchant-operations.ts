import { Type } from 'typebox'
import { query } from '../platform/http/operation.ts'
import { MCC_PATTERN, PAYEE_NAME_PATTERN, VPA_PATTERN } from '../qr-codes/upi-uri.ts'
import {
  BY_TIME_OR_NAME,
  CONSOLE_API,
  closed,
  consoleOperation,
  exact,
  idParam,
  instant,
  listOf,
  listQuery,
  maybeInstant,
  Name,
  oneOf,
  record,
  rupeesText,
  text,
} from './console-schema.ts'
import { later } from './later.ts'

const TAG = 'Merchants'
const PATH = `${CONSOLE_API}/merchants`
const params = idParam('merchantId')
const fields = {
  merchantId: text(),
  name: text(),
  vpa: text(),
  mcc: text('Merchant category code, ISO 18245'),
  accessKey: text('Public half of its credentials; authorises nothing'),
  status: Type.Enum(['active', 'disabled']),
  createdOn: instant,
  disabledOn: maybeInstant,
}
const MerchantRecord = record('Merchant', fields)
const ApiKeyRecord = record('ApiKey', {
  apiKeyId: text(),
  name: text(),
  prefix: text('Begin of the key, to tell it from others'),
  createdOn: instant,
  revokedOn: maybeInstant,
})
const IssuedApiKey = record('IssuedApiKey', {
  apiKeyId: text(),
  apiKey: text('The secret; shown here and never again'),
})

export const listMerchants = query({
  ...consoleOperation,
  id: 'listMerchants',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List merchants',
  role: 'viewer',
  query: listQuery(BY_TIME_OR_NAME, {
    q: exact('Id, begin of the name, or begin of the VPA', 255),
    status: oneOf(['active', 'disabled'], 'Only these'),
  }),
  result: listOf(MerchantRecord),
  errors: [],
  mount: later,
})

export const showMerchant = query({
  ...consoleOperation,
  id: 'showMerchant',
  method: 'GET',
  path: `${PATH}/:merchantId`,
  tag: TAG,
  summary: 'Show merchant, with its keys',
  role: 'viewer',
  params,
  result: record('MerchantDetail', {
    ...fields,
    apiKeys: Type.Array(ApiKeyRecord),
    payable: rupeesText,
    payableAccountId: text('Ledger account of what it is owed'),
  }),
  errors: ['merchant_not_found'],
  mount: later,
})

export const createMerchantInConsole = query({
  ...consoleOperation,
  id: 'createMerchant',
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Create merchant, with a first API key',
  role: 'operator',
  body: closed({
    name: Type.String({
      pattern: PAYEE_NAME_PATTERN,
      'x-rule': 'must have 1 to 100 characters, not only spaces',
    }),
    vpa: Type.String({ maxLength: 255, pattern: VPA_PATTERN, 'x-rule': 'must look like name@handle' }),
    mcc: Type.String({ pattern: MCC_PATTERN, 'x-rule': 'must be four digits' }),
  }),
  result: closed({ merchant: MerchantRecord, apiKey: IssuedApiKey }),
  errors: ['already_exists', 'mcc_not_allowed'],
  mount: later,
})

export const changeMerchant = query({
  ...consoleOperation,
  id: 'changeMerchant',
  method: 'PATCH',
  path: `${PATH}/:merchantId`,
  tag: TAG,
  summary: 'Disable or enable merchant',
  role: 'operator',
  params,
  body: closed({ disabled: Type.Boolean() }),
  result: MerchantRecord,
  errors: ['merchant_not_found'],
  mount: later,
})

export const issueApiKeyInConsole = query({
  ...consoleOperation,
  id: 'issueApiKey',
  method: 'POST',
  path: `${PATH}/:merchantId/api-keys`,
  tag: TAG,
  summary: 'Issue API key',
  role: 'operator',
  params,
  body: closed({ name: Name }),
  result: IssuedApiKey,
  errors: ['merchant_not_found'],
  mount: later,
})

export const revokeApiKeyInConsole = query({
  ...consoleOperation,
  id: 'revokeApiKey',
  method: 'DELETE',
  path: `${PATH}/:merchantId/api-keys/:apiKeyId`,
  tag: TAG,
  summary: 'Revoke API key',
  description: 'For good; its tokens die within a second in every process.',
  role: 'operator',
  params: Type.Object({
    merchantId: Type.String({ maxLength: 128 }),
    apiKeyId: Type.String({ maxLength: 128 }),
  }),
  result: ApiKeyRecord,
  errors: ['credential_not_found'],
  mount: later,
})

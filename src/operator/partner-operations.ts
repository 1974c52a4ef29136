import { Type } from 'typebox'
import { PRODUCTS } from '../access/partner.ts'
import { query } from '../platform/http/operation.ts'
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
  text,
} from './console-schema.ts'
import { later } from './later.ts'

const TAG = 'Partners'
const PATH = `${CONSOLE_API}/partners`
const params = idParam('partnerId')
const id = Type.String({ maxLength: 128 })
const fields = {
  partnerId: text(),
  name: text(),
  products: Type.Array(Type.Enum([...PRODUCTS])),
  plainRequests: Type.Boolean({ description: 'Sandbox only: its requests need not be sealed' }),
  status: Type.Enum(['active', 'disabled']),
  createdOn: instant,
  disabledOn: maybeInstant,
}
const PartnerRecord = record('Partner', fields)
const ClientRecord = record('OAuthClient', {
  clientId: text(),
  name: text(),
  createdOn: instant,
  revokedOn: maybeInstant,
})
const SealKeyRecord = record('SealKey', {
  kid: text(),
  kind: Type.Enum(['shared', 'public']),
  alg: text(),
  createdOn: instant,
  retiredOn: maybeInstant,
})
const IssuedClient = record('IssuedClient', {
  clientId: text(),
  clientSecret: text('The secret; shown here and never again'),
})

export const listPartnersInConsole = query({
  ...consoleOperation,
  id: 'listPartners',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List partners',
  role: 'viewer',
  query: listQuery(BY_TIME_OR_NAME, {
    q: exact('Id, or begin of the name', 100),
    status: oneOf(['active', 'disabled'], 'Only these'),
  }),
  result: listOf(PartnerRecord),
  errors: [],
  mount: later,
})

export const showPartner = query({
  ...consoleOperation,
  id: 'showPartner',
  method: 'GET',
  path: `${PATH}/:partnerId`,
  tag: TAG,
  summary: 'Show partner, with its clients and keys',
  role: 'viewer',
  params,
  result: record('PartnerDetail', {
    ...fields,
    clients: Type.Array(ClientRecord),
    sealKeys: Type.Array(SealKeyRecord),
  }),
  errors: ['partner_not_found'],
  mount: later,
})

export const createPartnerInConsole = query({
  ...consoleOperation,
  id: 'createPartner',
  method: 'POST',
  path: PATH,
  tag: TAG,
  summary: 'Create partner, with a first OAuth client',
  role: 'operator',
  body: closed({
    name: Name,
    products: Type.Array(Type.Enum([...PRODUCTS]), {
      minItems: 1,
      maxItems: PRODUCTS.length,
      uniqueItems: true,
    }),
    plainRequests: Type.Optional(Type.Boolean({ description: 'Sandbox only' })),
  }),
  result: closed({ partner: PartnerRecord, client: IssuedClient }),
  errors: [],
  mount: later,
})

export const changePartner = query({
  ...consoleOperation,
  id: 'changePartner',
  method: 'PATCH',
  path: `${PATH}/:partnerId`,
  tag: TAG,
  summary: 'Disable or enable partner',
  role: 'operator',
  params,
  body: closed({ disabled: Type.Boolean() }),
  result: PartnerRecord,
  errors: ['partner_not_found'],
  mount: later,
})

export const issueClient = query({
  ...consoleOperation,
  id: 'issueClient',
  method: 'POST',
  path: `${PATH}/:partnerId/clients`,
  tag: TAG,
  summary: 'Issue OAuth client',
  role: 'operator',
  params,
  body: closed({ name: Name }),
  result: IssuedClient,
  errors: ['partner_not_found'],
  mount: later,
})

export const revokeClient = query({
  ...consoleOperation,
  id: 'revokeClient',
  method: 'DELETE',
  path: `${PATH}/:partnerId/clients/:clientId`,
  tag: TAG,
  summary: 'Revoke OAuth client',
  description: 'For good; its tokens die within a second in every process.',
  role: 'operator',
  params: Type.Object({ partnerId: id, clientId: id }),
  result: closed({ clientId: text(), revokedOn: instant }),
  errors: ['credential_not_found'],
  mount: later,
})

export const issueSealKey = query({
  ...consoleOperation,
  id: 'issueSealKey',
  method: 'POST',
  path: `${PATH}/:partnerId/seal-keys`,
  tag: TAG,
  summary: 'Issue shared seal key',
  role: 'operator',
  params,
  result: record('IssuedSealKey', {
    kty: text(),
    kid: text(),
    alg: text(),
    enc: text(),
    k: text('The secret, base64url; shown here and never again'),
  }),
  errors: ['partner_not_found'],
  mount: later,
})

export const retireSealKeyInConsole = query({
  ...consoleOperation,
  id: 'retireSealKey',
  method: 'DELETE',
  path: `${PATH}/:partnerId/seal-keys/:kid`,
  tag: TAG,
  summary: 'Retire seal key',
  description: 'For good; within a second nothing sealed with it is opened any more.',
  role: 'operator',
  params: Type.Object({ partnerId: id, kid: Type.String({ maxLength: 256 }) }),
  result: closed({ kid: text(), retiredOn: instant }),
  errors: ['credential_not_found'],
  mount: later,
})

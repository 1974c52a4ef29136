import { fail } from '@svc/contract/errors'
import { type Company, companies } from '@svc/core/tenants/company'
import { createCompany } from '@svc/core/tenants/create-company'
import { updateCompany } from '@svc/core/tenants/update-company'
import { rfc3339 } from '@svc/kernel/time'
import { statement } from '@svc/platform/db/statement'
import { Type } from 'typebox'
import { okWithCode, operation, query, succeedWithCode } from '../http/operation.ts'
import { PageOf, PageQuery, page, readPage } from '../http/page.ts'

const COMPANIES = '/api/v0/partner/companies'
const TAG = 'Companies and users'
const CompanyParams = Type.Object({
  companyId: Type.String({ description: 'One of your companies' }),
})
const Name = Type.String({ minLength: 1, maxLength: 100, description: 'Legal name; cards show it' })

const CompanyRecord = Type.Object(
  {
    companyId: Type.String(),
    name: Type.String(),
    createdOn: Type.String({ description: 'RFC 3339' }),
  },
  { title: 'PartnerCompany', additionalProperties: false },
)

const toWire = ({ companyId, name, createdAt }: Company, timeZone: string) => ({
  companyId,
  name,
  createdOn: rfc3339(createdAt, timeZone),
})

const LIST = statement<Company>(
  'partner_companies',
  `select ${companies.columns} from companies co
   where co.partner_id = $1 and ($2::timestamptz is null or (co.created_at, co.company_id) < ($2, $3::text))
   order by co.created_at desc, co.company_id desc limit $4`,
)

/** Not in the specification. */
export const listCompanies = query({
  id: 'listCompanies',
  method: 'GET',
  path: COMPANIES,
  tag: TAG,
  summary: 'List companies',
  description: 'Newest first; pass `next` back as `after` for the next page.',
  auth: 'partner',
  scope: 'cards:read',
  envelope: 'code',
  query: PageQuery,
  result: PageOf(CompanyRecord),
  errors: [],
  mount({ database, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    return async ({ caller: { tenantId }, query }) => {
      const { limit, after } = readPage(query)
      const rows = await database.read([tenantId], (tx) =>
        tx.query(LIST, [tenantId, after?.at, after?.id, limit + 1]),
      )
      const positionOf = ({ createdAt, companyId }: Company) => ({ at: createdAt, id: companyId })
      return { body: succeedWithCode(page(rows, limit, positionOf, (company) => toWire(company, timeZone))) }
    }
  },
})

/** Not in the specification. */
export const getCompany = query({
  id: 'getCompany',
  method: 'GET',
  path: `${COMPANIES}/:companyId`,
  tag: TAG,
  summary: 'Get company',
  auth: 'partner',
  scope: 'cards:read',
  envelope: 'code',
  params: CompanyParams,
  result: CompanyRecord,
  errors: ['company_not_found'],
  mount({ database, config: { BUSINESS_TIME_ZONE: timeZone } }) {
    return async ({ caller: { tenantId: partnerId }, params: { companyId } }) => {
      const [company] = await database.read([partnerId], (tx) =>
        tx.query(companies.find, companies.keys([{ partnerId, companyId }])),
      )
      return { body: succeedWithCode(toWire(company ?? fail('company_not_found'), timeZone)) }
    }
  },
})

/** Not in the specification. */
export const createCompanyOperation = operation({
  id: 'createCompany',
  method: 'POST',
  path: COMPANIES,
  tag: TAG,
  summary: 'Create company',
  description: 'One of your customers, whose employees hold cards and coins. Names need not be unique.',
  auth: 'partner',
  scope: 'cards:write',
  envelope: 'code',
  body: Type.Object({ name: Name }, { additionalProperties: false }),
  result: CompanyRecord,
  errors: [],
  run: createCompany,
  args: ({ caller: { tenantId: partnerId }, body: { name } }) => ({ partnerId, name }),
  reply: (company, { timeZone }) => okWithCode(toWire(company, timeZone)),
})

/** Not in the specification. */
export const updateCompanyOperation = operation({
  id: 'updateCompany',
  method: 'PATCH',
  path: `${COMPANIES}/:companyId`,
  tag: TAG,
  summary: 'Update company',
  auth: 'partner',
  scope: 'cards:write',
  envelope: 'code',
  params: CompanyParams,
  body: Type.Object({ name: Type.Optional(Name) }, { additionalProperties: false }),
  result: CompanyRecord,
  errors: ['company_not_found'],
  run: updateCompany,
  args: ({ caller: { tenantId: partnerId }, params: { companyId }, body: { name } }) => ({
    partnerId,
    companyId,
    name,
  }),
  reply: (company, { timeZone }) => okWithCode(toWire(company, timeZone)),
})

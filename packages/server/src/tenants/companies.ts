import { fail } from '@svc/contract/errors'
import { type Company, companies } from '@svc/core/tenants/company'
import { createCompany } from '@svc/core/tenants/create-company'
import { updateCompany } from '@svc/core/tenants/update-company'
import { rfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'
import { begins } from '../http/list.ts'
import { commandContract, operation, tenantOperations } from '../http/operation.ts'
import { idFilter, listOf, type Resource, recordOf, showOf, toRecord } from '../http/resource.ts'

const COMPANIES = '/api/v0/partner/companies'
export const ofCompanies = tenantOperations({ tag: 'Companies and users', auth: 'partner', envelope: 'code' })
const CompanyParams = Type.Object({
  companyId: Type.String({ description: 'One of your companies' }),
})
const Name = Type.String({ minLength: 1, maxLength: 100, description: 'Legal name; cards show it' })

/** A company, and for operators whose it is. */
export type ListedCompany = Company & { readonly partnerName?: string }

/** Companies, as every reader sees and finds them. */
export const company = {
  titles: { tenant: 'PartnerCompany', operator: 'Company' },
  from: {
    columns: `${companies.columns}, p.name as "partnerName"`,
    table: 'companies co',
    alias: 'co',
    joins: 'join partners p on p.partner_id = co.partner_id',
  },
  tenant: 'co.partner_id',
  keys: [{ sql: 'co.company_id', type: 'text' }],
  sorts: {
    name: [
      { sql: '(lower(co.name) collate "C")', type: 'text' },
      { sql: 'co.company_id', type: 'text' },
    ],
  },
  fields: {
    companyId: { schema: Type.String(), of: ({ companyId }) => companyId },
    partnerId: { schema: Type.String(), of: ({ partnerId }) => partnerId, operatorOnly: true },
    partnerName: { schema: Type.String(), of: ({ partnerName }) => partnerName, operatorOnly: true },
    name: { schema: Type.String(), of: ({ name }) => name },
    createdOn: {
      schema: Type.String({ description: 'RFC 3339' }),
      of: ({ createdAt }, timeZone) => rfc3339(createdAt, timeZone),
    },
  },
  filters: {
    q: {
      schema: idFilter('Id, or begin of the name'),
      sql: (filters, q) =>
        filters.add(
          `(co.company_id = ? or lower(co.name) collate "C" like lower(${filters.param(begins(q))}))`,
          q,
        ),
      operatorOnly: true,
    },
    partnerId: { schema: idFilter('Of this partner'), sql: 'co.partner_id = ?', operatorOnly: true },
  },
} satisfies Resource<ListedCompany>

const CompanyRecord = recordOf(company, 'tenant')
const toWire = toRecord<ListedCompany>(company, 'tenant')

/** Not in the specification. */
export const listCompanies = listOf<ListedCompany>(company, {
  ...ofCompanies('cards:read'),
  id: 'listCompanies',
  path: COMPANIES,
  summary: 'List companies',
  description: 'Newest first; pass `next` back as `after` for the next page.',
})

/** Not in the specification. */
export const getCompany = showOf<ListedCompany>(company, {
  ...ofCompanies('cards:read'),
  id: 'getCompany',
  path: `${COMPANIES}/:companyId`,
  summary: 'Get company',
  params: CompanyParams,
  errors: ['company_not_found'],
  notFound: () => fail('company_not_found'),
})

/** Not in the specification. */
export const createCompanyContract = commandContract({
  ...ofCompanies('cards:write'),
  id: 'createCompany',
  method: 'POST',
  path: COMPANIES,
  summary: 'Create company',
  description: 'One of your customers, whose employees hold cards and coins. Names need not be unique.',
  body: Type.Object({ name: Name }, { additionalProperties: false }),
  result: CompanyRecord,
  errors: [],
  run: createCompany,
  args: ({ caller: { tenantId: partnerId }, body: { name } }) => ({ partnerId, name }),
  reply: (made, { ok, timeZone }) => ok(toWire(made, timeZone)),
})
export const createCompanyOperation = operation(createCompanyContract)

/** Not in the specification. */
export const updateCompanyContract = commandContract({
  ...ofCompanies('cards:write'),
  id: 'updateCompany',
  method: 'PATCH',
  path: `${COMPANIES}/:companyId`,
  summary: 'Update company',
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
  reply: (made, { ok, timeZone }) => ok(toWire(made, timeZone)),
})
export const updateCompanyOperation = operation(updateCompanyContract)

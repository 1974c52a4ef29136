import { fail } from '@svc/contract/errors'
import { findCompany } from '@svc/core/cards/card/list-onboarded'
import { findPartner } from '@svc/core/tenants/partner'
import { cardAccount, type ListedAccount } from '@svc/server/cards/card-accounts'
import { countRows, Filters } from '@svc/server/http/list'
import { query } from '@svc/server/http/operation'
import { fieldsOf, findRow, listOf, readRows, toRecord } from '@svc/server/http/resource'
import {
  company,
  createCompanyContract,
  type ListedCompany,
  updateCompanyContract,
} from '@svc/server/tenants/companies'
import { Type } from 'typebox'
import { CONSOLE_API, consoleOperation, idParam, record, Total } from '../console-schema.ts'
import { onBehalf } from '../on-behalf.ts'
import { CardAccountRecord, cardAccountToWire } from './card-account-operations.ts'

const COMPANIES = `${CONSOLE_API}/companies`
const toWire = toRecord<ListedCompany>(company, 'operator')

export const listCompaniesInConsole = listOf<ListedCompany>(company, {
  ...consoleOperation,
  id: 'console.listCompanies',
  path: COMPANIES,
  tag: 'Companies',
  summary: 'List companies',
  permission: 'view',
})

export const showCompany = query({
  ...consoleOperation,
  id: 'console.showCompany',
  method: 'GET',
  path: `${COMPANIES}/:companyId`,
  tag: 'Companies',
  summary: 'Show company, with its card accounts',
  permission: 'view',
  params: idParam('companyId'),
  result: record('CompanyDetail', {
    ...fieldsOf(company, 'operator'),
    cardAccounts: Type.Array(CardAccountRecord),
    users: Total,
  }),
  errors: ['company_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { companyId } }) => {
      const detail = await database.operate(async (tx) => {
        const found =
          (await findRow<ListedCompany>(tx, company, { reader: 'operator' }, companyId)) ??
          fail('company_not_found')
        const scope = { reader: 'operator', tenantId: found.partnerId } as const
        const wanted = { companyId, limit: '500', uncounted: true }
        const { data } = await readRows<ListedAccount>(tx, cardAccount, scope, wanted)
        const users = new Filters().add(`u.company_id || '' = ?`, companyId)
        return {
          ...toWire(found, timeZone),
          cardAccounts: data.map((account) => cardAccountToWire(account, timeZone)),
          users: await countRows(tx, { table: 'users u', filters: users }),
        }
      })
      return { body: JSON.stringify(detail) }
    }
  },
})

export const createCompanyInConsole = onBehalf(createCompanyContract, {
  id: 'console.createCompany',
  path: COMPANIES,
  permission: 'operations',
  given: { partnerId: Type.String({ maxLength: 128 }) },
  errors: ['partner_not_found'],
  tenantOf: async ({ body }, { database }) => {
    const { partnerId } = body as typeof body & { readonly partnerId: string }
    return ((await database.operate((tx) => findPartner(tx, partnerId))) ?? fail('partner_not_found'))
      .partnerId
  },
  target: ({ companyId }) => companyId,
})

export const updateCompanyInConsole = onBehalf(updateCompanyContract, {
  id: 'console.updateCompany',
  path: `${COMPANIES}/:companyId`,
  permission: 'operations',
  tenantOf: async ({ params: { companyId } }, { database }) =>
    ((await database.operate((tx) => findCompany(tx, companyId))) ?? fail('company_not_found')).partnerId,
  target: ({ companyId }) => companyId,
})

import { fail } from '@svc/contract/errors'
import { createCompany } from '@svc/core/tenants/create-company'
import { findPartner } from '@svc/core/tenants/partner'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { CardAccountRecord, readCardAccounts } from './card-account-operations.ts'
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
  Name,
  record,
  Total,
  text,
} from './console-schema.ts'
import { begins, countRows, Filters, readList } from './list.ts'
import { keyedQuery, onceOnBehalf } from './once.ts'

const COMPANIES = `${CONSOLE_API}/companies`
const id = Type.String({ maxLength: 128 })

const companyFields = {
  companyId: text(),
  partnerId: text(),
  partnerName: text(),
  name: text(),
  createdOn: instant,
}
const CompanyRecord = record('Company', companyFields)

interface CompanyRow {
  company_id: string
  partner_id: string
  partner_name: string
  name: string
  created_at: Date
}

const toWire = (row: CompanyRow, timeZone: string) => ({
  companyId: row.company_id,
  partnerId: row.partner_id,
  partnerName: row.partner_name,
  name: row.name,
  createdOn: rfc3339(row.created_at, timeZone),
})

const PLAN = {
  columns: 'c.company_id, c.partner_id, p.name as partner_name, c.name, c.created_at',
  table: 'companies c',
  alias: 'c',
  joins: 'join partners p on p.partner_id = c.partner_id',
}
const BY_ID = { sql: 'c.company_id', type: 'text' } as const

async function findOne(tx: Tx, companyId: string, timeZone: string) {
  const filters = new Filters().add('c.company_id = ?', companyId)
  const plan = { ...PLAN, filters, keys: [BY_ID], descending: true }
  const { data } = await readList(tx, plan, {}, (row: CompanyRow) => toWire(row, timeZone))
  return data[0] ?? fail('company_not_found')
}

export const listCompaniesInConsole = query({
  ...consoleOperation,
  id: 'console.listCompanies',
  method: 'GET',
  path: COMPANIES,
  tag: 'Companies',
  summary: 'List companies',
  permission: 'view',
  query: listQuery(BY_TIME_OR_NAME, {
    q: exact('Id, or begin of the name', 100),
    partnerId: exact('Of this partner'),
  }),
  result: listOf(CompanyRecord),
  errors: [],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ query }) => {
      const { q, sort = '-created', partnerId } = query
      const filters = new Filters().add('c.partner_id = ?', partnerId)
      if (q !== undefined)
        filters.add(
          `(c.company_id = ? or lower(c.name) collate "C" like lower(${filters.param(begins(q))}))`,
          q,
        )
      const plan = {
        ...PLAN,
        filters,
        keys:
          sort === 'name' ? [{ sql: '(lower(c.name) collate "C")', type: 'text' } as const, BY_ID] : [BY_ID],
        descending: sort === '-created',
      }
      const page = await database.report((tx) =>
        readList(tx, plan, query, (row: CompanyRow) => toWire(row, timeZone)),
      )
      return { body: JSON.stringify(page) }
    }
  },
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
    ...companyFields,
    cardAccounts: Type.Array(CardAccountRecord),
    users: Total,
  }),
  errors: ['company_not_found'],
  mount({ config: { BUSINESS_TIME_ZONE: timeZone }, database }) {
    return async ({ params: { companyId } }) => {
      const detail = await database.operate(async (tx) => {
        const company = await findOne(tx, companyId, timeZone)
        const accounts = new Filters()
          .add('a.partner_id = ?', company.partnerId)
          .add('a.company_id = ?', companyId)
        const users = new Filters().add(`u.company_id || '' = ?`, companyId)
        return {
          ...company,
          cardAccounts: (await readCardAccounts(tx, accounts, { limit: '500' }, timeZone)).data,
          users: await countRows(tx, { table: 'users u', filters: users }),
        }
      })
      return { body: JSON.stringify(detail) }
    }
  },
})

export const createCompanyInConsole = keyedQuery({
  ...consoleOperation,
  id: 'console.createCompany',
  method: 'POST',
  path: COMPANIES,
  tag: 'Companies',
  summary: 'Create company',
  permission: 'operations',
  body: closed({ partnerId: id, name: Name }),
  result: CompanyRecord,
  errors: ['partner_not_found'],
  mount(services) {
    const { commands, config, database } = services
    const { respond } = commands.open(createCompany)
    return async (input) => {
      const { partnerId, name } = input.body
      if (!(await database.operate((tx) => findPartner(tx, partnerId)))) fail('partner_not_found')
      const { body } = await respond(
        { partnerId, name },
        {
          reply: ({ companyId }) => ({ status: 200, body: JSON.stringify({ companyId }) }),
          ...onceOnBehalf(partnerId, { method: 'POST', path: COMPANIES }, input, {
            target: (made: { companyId: string }) => made.companyId,
          }),
        },
      )
      const { companyId } = JSON.parse(body) as { companyId: string }
      const company = await database.operate((tx) => findOne(tx, companyId, config.BUSINESS_TIME_ZONE))
      return { body: JSON.stringify(company) }
    }
  },
})

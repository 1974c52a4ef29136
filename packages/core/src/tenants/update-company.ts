import { fail } from '@svc/contract/errors'
import { command } from '@svc/platform/command'
import { type Company, companies } from './company.ts'

export interface UpdateCompany {
  readonly partnerId: string
  readonly companyId: string
  /** Absent: as it is. */
  readonly name?: string | undefined
}

const LOCK = companies.lock('to_change')
const saveNames = companies.updates(['name'], 'name')

/** Changes the legal name of a company; cards show it from then on. */
export const updateCompany = command({
  name: 'updateCompany',
  prepare: () => (args: UpdateCompany) => ({ ...args, tenantId: args.partnerId }),
  lock: (tx, commands) => companies.lockRows<Company>(tx, LOCK, commands),
  decide(known, { companyId, name }): Company {
    const company = known.get(companyId) ?? fail('company_not_found')
    return { ...company, name: name ?? company.name }
  },
  apply: (known, company) => void known.set(company.companyId, company),
  save: (tx, changed) =>
    saveNames(tx, [...new Map(changed.map((company) => [company.companyId, company])).values()]),
})

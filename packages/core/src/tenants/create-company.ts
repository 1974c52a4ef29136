import { fail } from '@svc/contract/errors'
import { idsByTenant } from '@svc/kernel/by-tenant'
import { command } from '@svc/platform/command'
import { statement } from '@svc/platform/db/statement'
import { type Company, companies } from './company.ts'

export interface CreateCompany {
  readonly partnerId: string
  /** Legal name. */
  readonly name: string
}

const PARTNERS = statement<{ partnerId: string }>(
  'partners_existing',
  'select partner_id as "partnerId" from partners where partner_id = any ($1)',
)

/** Registers a company under a partner. Names need not be unique. */
export const createCompany = command({
  name: 'createCompany',

  prepare:
    ({ newId }) =>
    (args: CreateCompany) => ({ ...args, tenantId: args.partnerId, companyId: newId('com') }),

  async lock(tx, creates) {
    const known = await tx.query(PARTNERS, [creates.map(({ partnerId }) => partnerId)])
    const partnerOf = ({ partnerId }: { readonly partnerId: string }) => partnerId
    return idsByTenant(known, partnerOf, partnerOf)
  },

  decide(known, { partnerId, companyId, name }, createdAt): Company {
    if (!known.has(partnerId)) fail('partner_not_found')
    return { companyId, partnerId, name, createdAt }
  },

  apply: () => undefined,
  save: (tx, made) => companies.insert(tx, made),
})

import { useQuery } from '@tanstack/react-query'
import type { Choice } from '../../parts/company-field.tsx'
import { api, getList, payloadOf, type Schemas } from '../api.ts'

const loadCompanies = (query: { limit: number; after?: string }) =>
  payloadOf(api.GET('/partner/companies', { params: { query } }))
type Company = Schemas['PartnerCompany']

async function loadAllCompanies(): Promise<readonly Company[]> {
  const all: Company[] = []
  for (let after: string | undefined; ; ) {
    const { data, next } = await loadCompanies({ limit: 500, ...(after !== undefined && { after }) })
    all.push(...data)
    if (next === undefined) return all
    after = next
  }
}

/** The partner's companies, for select boxes; `undefined` until they are there. */
export function useCompanyChoices(): Choice[] | undefined {
  const { data } = useQuery({ queryKey: ['companies', 'choices'], queryFn: loadAllCompanies })
  return data?.map(({ companyId, name }) => ({ value: companyId, label: name }))
}
export const useCompanies = (): Choice[] => useCompanyChoices() ?? []

type Account = Schemas['PartnerCardAccount']

/** All of the partner’s, for select boxes. */
export function useAccounts(): readonly Account[] {
  const { data } = useQuery({
    queryKey: ['card-accounts', 'all'],
    queryFn: () => getList<Account>('/partner/card-accounts')({ limit: '500' }),
  })
  return data?.data ?? []
}

import { listAt } from '../api.ts'
import { ListOfTenant, type OfTenant } from '../parts/list-of-tenant.tsx'
import { CARD_ACCOUNTS } from './card-accounts.tsx'
import { CARDS } from './cards.tsx'
import { COIN_CONFIGS } from './coins.tsx'
import { COMPANIES } from './companies.tsx'

interface Of {
  readonly of: OfTenant
}

export const CardAccountsOf = ({ of }: Of) => (
  <ListOfTenant {...CARD_ACCOUNTS} load={listAt('/card-accounts', {}, { ...of })} of={of} />
)

export const CardsOf = ({ of }: Of) => (
  <ListOfTenant {...CARDS} load={listAt('/cards', {}, { ...of })} of={of} />
)

export const CoinConfigsOf = ({ of }: Of) => (
  <ListOfTenant {...COIN_CONFIGS} load={listAt('/coin-configs', {}, { ...of })} of={of} />
)

export const CompaniesOf = ({ of }: Of) => (
  <ListOfTenant {...COMPANIES} load={listAt('/companies', {}, { ...of })} of={of} />
)

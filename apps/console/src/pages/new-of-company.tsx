import { api, responseOf } from '../api.ts'
import { once } from '../form-key.ts'
import { CreateCardAccount } from '../parts/create-card-account.tsx'
import { CreateUser } from '../parts/create-user.tsx'
import { queryClient } from '../session.ts'

async function changed(...names: readonly string[]): Promise<void> {
  for (const name of [...names, 'companies']) await queryClient.invalidateQueries({ queryKey: [name] })
}

interface OfCompanyProps {
  readonly companyId?: string
}

/** A card account, on behalf of the partner. */
export const NewCardAccount = (of: OfCompanyProps) => (
  <CreateCardAccount
    {...of}
    create={async (body, key) => {
      await responseOf(api.POST('/card-accounts', { params: { header: once(key) }, body }))
      await changed('card-accounts')
    }}
  />
)

/** A holder, on behalf of the partner. */
export const NewUser = (of: OfCompanyProps & { readonly variant?: 'default' }) => (
  <CreateUser
    {...of}
    create={async (body, key) => {
      await responseOf(api.POST('/users', { params: { header: once(key) }, body }))
      await changed('users')
    }}
  />
)

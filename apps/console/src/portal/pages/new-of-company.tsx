import { once } from '../../form-key.ts'
import type { OfCompany } from '../../parts/company-field.tsx'
import { CreateCardAccount } from '../../parts/create-card-account.tsx'
import { CreateUser } from '../../parts/create-user.tsx'
import { api, payloadOf } from '../api.ts'
import { changed } from '../session.ts'

/** A card account, empty; its page says where to transfer money for it. */
export const NewCardAccount = (of: OfCompany) => (
  <CreateCardAccount
    {...of}
    create={async (body, key) => {
      await payloadOf(api.POST('/partner/card-accounts', { params: { header: once(key) }, body }))
      await changed('card-accounts', 'overview')
    }}
  />
)

export const NewHolder = (of: OfCompany & { readonly variant?: 'default' }) => (
  <CreateUser
    {...of}
    create={async (body, key) => {
      await payloadOf(api.POST('/partner/users', { params: { header: once(key) }, body }))
      await changed('users')
    }}
  />
)

import { Type } from 'typebox'

export const UserParams = Type.Object({
  userId: Type.String({ description: 'A user of a company of the partner' }),
})

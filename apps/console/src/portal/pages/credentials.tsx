import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { responseOf } from '../../api.ts'
import { once } from '../../form-key.ts'
import { type CredentialActions, CredentialList } from '../../parts/credential-list.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { api } from '../api.ts'
import { changed, useMember } from '../session.ts'

const then = async <Result,>(work: Promise<Result>): Promise<Result> => {
  const result = await work
  await changed('credentials')
  return result
}

const ACTIONS: CredentialActions = {
  issuing: {
    issue: (body, key) => then(responseOf(api.POST('/credentials', { params: { header: once(key) }, body }))),
    roll: (credentialId, body, key) =>
      then(
        responseOf(
          api.POST('/credentials/{credentialId}/roll', {
            params: { path: { credentialId }, header: once(key) },
            body,
          }),
        ),
      ),
  },
  limit: (credentialId, body) =>
    then(
      responseOf(api.PUT('/credentials/{credentialId}/limits', { params: { path: { credentialId } }, body })),
    ),
  revoke: (credentialId) =>
    then(responseOf(api.DELETE('/credentials/{credentialId}', { params: { path: { credentialId } } }))),
}

export function Credentials() {
  const { can, kind } = useMember()
  const credentials = useQuery({
    queryKey: ['credentials'],
    queryFn: () => responseOf(api.GET('/credentials')),
  })
  const what = kind === 'merchant' ? 'API key' : 'OAuth client'
  return (
    <Page
      title={`${what}s`}
      lead="With them your programs get tokens. Replace one: the present one goes on until your programs have changed over."
    >
      <Loaded query={credentials}>
        {({ data, availableScopes }) => (
          <CredentialList
            what={what}
            credentials={data}
            scopes={availableScopes}
            actions={can('admin') ? ACTIONS : undefined}
            empty={<Text c="dimmed">None yet.</Text>}
          />
        )}
      </Loaded>
    </Page>
  )
}

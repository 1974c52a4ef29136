import { Anchor, List, Text } from '@mantine/core'
import { Link, useRouterState } from '@tanstack/react-router'
import { APP } from '../app.ts'
import { Page, Section } from '../parts/page.tsx'
import type { Area } from './area.ts'
import { nearestPlaces } from './nearest-places.ts'

/** An address of no page, in the frame, whose search and places lead on; the nearest ones are offered. */
export function NoSuchPage({ areas }: { readonly areas: readonly Area[] }) {
  const pathname = useRouterState({ select: ({ location }) => location.pathname })
  const places = nearestPlaces(pathname, areas)
  return (
    <Page title="Page not found" lead={`The address may be mistyped, or from another version of the ${APP}.`}>
      {places.length > 0 && (
        <Section title="Nearest places">
          <List spacing={4}>
            {places.map(({ to, label, search }) => (
              <List.Item key={to + label}>
                <Anchor component={Link} to={to} search={(search ?? {}) as never} underline="always">
                  {label}
                </Anchor>
              </List.Item>
            ))}
          </List>
        </Section>
      )}
      <Text>
        Search above for what you look for, choose a place, or{' '}
        <Anchor component={Link} to="/" underline="always">
          go to the first page
        </Anchor>
        .
      </Text>
    </Page>
  )
}

import { Group, NavLink, ScrollArea, Stack } from '@mantine/core'
import { Link, useRouterState } from '@tanstack/react-router'
import { type Area, type Place, placeAt } from './area.ts'
import { WaitingCount } from './waiting-count.tsx'

interface AreaMenuProps {
  readonly areas: readonly Area[]
  /** How much waits for the person at a place. */
  readonly waitingAt?: (place: Place) => number
  readonly onGo: () => void
}

/** The areas, each a link to its first place; that of the current page shows all its places instead. */
export function AreaMenu({ areas, waitingAt = () => 0, onGo }: AreaMenuProps) {
  const at = useRouterState({ select: ({ location }) => location })
  const current = placeAt(areas, at)
  return (
    <ScrollArea style={{ flex: 1 }}>
      <Stack gap={2}>
        {areas.map(({ Icon, label, places }) => {
          const listed = places.filter(({ behind }) => !behind)
          const [first] = listed
          const isCurrent = places.includes(current!)
          if (!first) return undefined
          if (listed.length === 1 || !isCurrent)
            return (
              <MenuLink
                key={label}
                place={{ ...first, label }}
                Icon={Icon}
                waiting={listed.reduce((sum, place) => sum + waitingAt(place), 0)}
                active={isCurrent}
                // Its places come next.
                onGo={listed.length === 1 ? onGo : undefined}
              />
            )
          return (
            <div key={label} role="group" aria-label={label}>
              <Group gap="sm" px="sm" py={8} wrap="nowrap" fz="sm" fw={600}>
                <Icon />
                {label}
              </Group>
              {listed.map((place) => (
                <MenuLink
                  key={place.label}
                  place={place}
                  waiting={waitingAt(place)}
                  active={place === current}
                  onGo={onGo}
                />
              ))}
            </div>
          )
        })}
      </Stack>
    </ScrollArea>
  )
}

interface MenuLinkProps {
  readonly place: Place
  readonly Icon?: Area['Icon']
  readonly waiting: number
  readonly active: boolean
  readonly onGo: (() => void) | undefined
}

function MenuLink({ place: { label, search, to }, Icon, waiting, active, onGo }: MenuLinkProps) {
  return (
    <NavLink
      component={Link}
      to={to}
      search={(search ?? {}) as never}
      label={label}
      active={active}
      {...(Icon ? { leftSection: <Icon /> } : { pl: 42, py: 6 })}
      {...(active && { 'aria-current': 'page' as const })}
      {...(onGo && { onClick: onGo })}
      {...(waiting > 0 && { rightSection: <WaitingCount waiting={waiting} /> })}
    />
  )
}

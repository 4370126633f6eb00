"""A hierarchy of the 169 items of the Groceries transactions: aisles, departments, and one group of all."""

from sluice.ground.hierarchy import Hierarchy

AISLES = {
    "fresh food": {
        "fruit": "citrus fruit, tropical fruit, pip fruit, grapes, berries, nuts/prunes, packaged fruit/vegetables",
        "vegetables": "other vegetables, root vegetables, onions, herbs, specialty vegetables, organic products",
        "fresh meat": "beef, pork, chicken, turkey, hamburger meat, meat, fish",
        "cold cuts": "frankfurter, sausage, ham, liver loaf, organic sausage, meat spreads",
    },
    "dairy": {
        "milk": "whole milk, UHT-milk, butter milk, condensed milk, cream, whipped/sour cream",
        "yogurt and curd": "yogurt, curd, dessert",
        "cheese": "cream cheese, curd cheese, hard cheese, processed cheese, sliced cheese, soft cheese, "
        "specialty cheese, spread cheese",
        "eggs and fats": "domestic eggs, butter, margarine, oil, specialty fat, mayonnaise",
    },
    "bakery": {
        "bread": "rolls/buns, brown bread, white bread, semi-finished bread, zwieback, roll products",
        "cake": "pastry, long life bakery product, waffles, cake bar",
    },
    "frozen food": {
        "frozen meals and fish": "frozen meals, frozen fish, frozen chicken, frozen potato products, potato products",
        "frozen fruit and vegetables": "frozen vegetables, frozen fruits",
        "ice cream and desserts": "ice cream, frozen dessert",
    },
    "drinks": {
        "soft drinks": "soda, bottled water, fruit/vegetable juice, misc. beverages, beverages, syrup",
        "hot drinks": "coffee, instant coffee, tea, cocoa drinks",
        "beer": "bottled beer, canned beer",
        "wine and spirits": "red/blush wine, white wine, sparkling wine, prosecco, liquor, liquor (appetizer), "
        "liqueur, brandy, rum, whisky",
    },
    "larder": {
        "tins and meals": "canned fish, canned fruit, canned vegetables, pickled vegetables, soups, ready soups, "
        "Instant food products, pasta, rice, cereals, finished products, popcorn",
        "baking": "flour, sugar, baking powder, pudding powder, salt, cooking chocolate, artif. sweetener, honey, jam, "
        "sweet spreads, baby food, preservation products",
        "spices and sauces": "spices, mustard, ketchup, sauces, salad dressing, vinegar",
        "sweets": "chocolate, candy, chewing gum, specialty bar, specialty chocolate, chocolate marshmallow, "
        "seasonal products",
        "snacks": "salty snack, snack products, nut snack, tidbits",
    },
    "household": {
        "cleaning": "detergent, softener, abrasive cleaner, bathroom cleaner, cleaner, toilet cleaner, dish cleaner, "
        "decalcifier, house keeping products, rubbing alcohol",
        "body care": "hygiene articles, dental care, skin care, soap, hair spray, male cosmetics, make up remover, "
        "female sanitary products, baby cosmetics",
        "paper and bags": "napkins, kitchen towels, cling film/bags, shopping bags, bags",
        "pets": "cat food, dog food, pet care",
        "kitchen and home": "dishes, cookware, kitchen utensil, candles, light bulbs, photo/film, "
        "sound storage medium, newspapers",
        "plants": "pot plants, flower (seeds), flower soil/fertilizer",
    },
}


def grocery_hierarchy() -> Hierarchy:
    return Hierarchy(
        rows={
            item: (aisle, department, "anything")
            for department, aisles in AISLES.items()
            for aisle, items in aisles.items()
            for item in items.split(", ")
        }
    )
